// Kudo's tokenizer, from what `Tokenizer.as_json` gives: the same ids for the same text.

const UNKNOWN_PENALTY = 10; // an unknown character scores this much less than the worst piece

/** Unigram: every piece has a log-probability, and a word takes its most probable cut. */
export class Unigram {
  constructor({ vocabulary, scores, special, unknown }) {
    this.tokens = vocabulary;
    this.ids = new Map(vocabulary.map((token, id) => [token, id]));
    this.scores = new Map(vocabulary.map((token, id) => [token, scores[id]]));
    for (const name of special) this.scores.delete(name);
    this.unknown = this.ids.get(unknown);
    this.unknownScore = Math.min(...this.scores.values()) - UNKNOWN_PENALTY;
    this.longest = Math.max(...Array.from(this.scores.keys(), (piece) => [...piece].length));
  }

  encode(text) {
    return (text.match(/[ ▁][^ ▁]*|[^ ▁]+/gu) ?? []).flatMap((word) => this.pieces(word));
  }

  /** The ids of a word, whose space is written ▁; neighbours that are unknown become one token. */
  pieces(word) {
    const ids = [];
    for (const piece of this.best([...`▁${word.replace(/^[ ▁]/, "")}`])) {
      const id = this.scores.has(piece) ? this.ids.get(piece) : this.unknown;
      if (id !== this.unknown || ids.at(-1) !== id) ids.push(id);
    }
    return ids;
  }

  /** The most probable cut (Viterbi): the best of the first letters, for each end. */
  best(letters) {
    const scores = [0, ...letters.map(() => -Infinity)];
    const begin = [0, ...letters.map(() => 0)];
    for (let start = 0; start < letters.length; start++) {
      for (let end = start + 1; end <= Math.min(start + this.longest, letters.length); end++) {
        const other = end === start + 1 ? this.unknownScore : -Infinity;
        const score = scores[start] + (this.scores.get(letters.slice(start, end).join("")) ?? other);
        if (score > scores[end]) [scores[end], begin[end]] = [score, start];
      }
    }
    const pieces = [];
    for (let end = letters.length; end > 0; end = begin[end]) pieces.unshift(letters.slice(begin[end], end).join(""));
    return pieces;
  }

  decode(ids) {
    return ids.map((id) => this.tokens[id]).join("").replaceAll("▁", " ").replace(/^ /, "");
  }
}
