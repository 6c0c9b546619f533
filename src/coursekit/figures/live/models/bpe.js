// Sennrich's tokenizer, from what `Tokenizer.as_json` gives: the same ids for the same text. `joined`
// is that of byte_bpe.js.

import { joined } from "./byte_bpe.js";

/** Byte-pair encoding over characters; the last one of a word carries a mark. */
export class BPE {
  constructor({ vocabulary, merges, special, unknown, end_of_word: mark }) {
    this.tokens = vocabulary;
    this.ids = new Map(vocabulary.map((token, id) => [token, id]));
    this.ordinary = new Set(vocabulary.filter((token) => !special.includes(token)));
    this.ranks = new Map(merges.map((pair, rank) => [pair.join(" "), rank]));
    Object.assign(this, { unknown, mark });
  }

  encode(text) {
    return this.tokensOf(text).map((token) => this.ids.get(token));
  }

  /** The tokens of a text, with the merges below a rank only. */
  tokensOf(text, limit, used) {
    return (text.match(/\P{White_Space}+/gu) ?? []).flatMap((word) => joined(this.letters(word), this.ranks, limit, used));
  }

  letters(word) {
    const letters = [...word];
    letters.push(letters.pop() + this.mark);
    return letters.map((letter) => (this.ordinary.has(letter) ? letter : this.unknown));
  }

  decode(ids) {
    return ids.map((id) => this.tokens[id]).join("").replaceAll(this.mark, " ").replace(/ $/, "");
  }
}
