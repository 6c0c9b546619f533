// GPT-2's tokenizer, from what `Tokenizer.as_json` gives: the same ids for the same text.

const GPT2_PATTERN =
  /'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\p{White_Space}\p{L}\p{N}]+|\p{White_Space}+(?!\P{White_Space})|\p{White_Space}+/gu;

/** What GPT-2's files write for each byte: itself if it prints, else a letter from U+0100 on. */
function printableBytes() {
  const prints = (b) => (b > 32 && b < 127) || (b > 160 && b < 173) || b > 173;
  let hidden = 256;
  return Array.from({ length: 256 }, (_, b) => String.fromCharCode(prints(b) ? b : hidden++));
}

/**
 * Join the neighbours that were joined first in training, until none are left to join. Only merges
 * whose rank is below `limit` count; those that were used are added to `used`.
 */
export function joined(parts, ranks, limit = Infinity, used = null) {
  for (;;) {
    let best = null;
    for (let i = 0; i + 1 < parts.length; i++) {
      const rank = ranks.get(`${parts[i]} ${parts[i + 1]}`);
      if (rank < limit && (best === null || rank < best.rank)) {
        best = { rank, left: parts[i], right: parts[i + 1] };
      }
    }
    if (best === null) return parts;
    used?.add(best.rank);
    const after = [];
    for (let i = 0; i < parts.length; i++) {
      const pair = parts[i] === best.left && parts[i + 1] === best.right;
      after.push(pair ? best.left + best.right : parts[i]);
      if (pair) i++;
    }
    parts = after;
  }
}

/** Byte-level BPE: 256 bytes are the alphabet, and neighbours are joined in the order learned. */
export class ByteBPE {
  constructor({ vocabulary, merges, special, pattern }) {
    if (pattern !== "gpt2") throw new Error(`the pattern gpt2 is expected, found ${pattern}`);
    this.shown = printableBytes();
    this.bytes = new Map(this.shown.map((character, byte) => [character, byte]));
    this.tokens = vocabulary;
    this.special = new Set(special);
    this.ids = new Map(vocabulary.map((token, id) => [token, id]));
    this.ranks = new Map(merges.map((pair, rank) => [pair, rank]));
    this.words = new Map(); // the ids of words that were seen
  }

  encode(text) {
    return (text.match(GPT2_PATTERN) ?? []).flatMap((word) => {
      if (!this.words.has(word)) this.words.set(word, this.pieces(word));
      return this.words.get(word);
    });
  }

  /** The tokens of a text, with the merges below a rank only. */
  tokensOf(text, limit, used) {
    return (text.match(GPT2_PATTERN) ?? []).flatMap((word) => joined(this.letters(word), this.ranks, limit, used));
  }

  pieces(word) {
    return joined(this.letters(word), this.ranks).map((part) => this.ids.get(part));
  }

  letters(word) {
    return Array.from(new TextEncoder().encode(word), (byte) => this.shown[byte]);
  }

  /** The bytes of a token. */
  bytesOf(id) {
    const token = this.tokens[id];
    if (token === undefined) throw new Error(`there is no token ${id} of ${this.tokens.length}`);
    if (this.special.has(token)) return [...new TextEncoder().encode(token)];
    return Array.from(token, (character) => this.bytes.get(character));
  }

  decode(ids) {
    return new TextDecoder("utf-8", { ignoreBOM: true }).decode(Uint8Array.from(ids.flatMap((id) => this.bytesOf(id))));
  }
}
