// BERT's tokenizer, from what `Tokenizer.as_json` gives: the same ids for the same text.

// What BERT's text is cleaned of, and what is a word by itself.
const SPACE = /[\t\n\r\p{Z}]/u;
const DROPPED = /[\p{Cc}\p{Cf}\p{Co}\ufffd]/u;
const PUNCTUATION = /[\p{P}$+<=>^`|~]/u;
const IDEOGRAPH =
  /[\u4e00-\u9fff\u3400-\u4dbf\uf900-\ufaff\u{20000}-\u{2a6df}\u{2a700}-\u{2b73f}\u{2b740}-\u{2b81f}\u{2b820}-\u{2ceaf}\u{2f800}-\u{2fa1f}]/u;
const LONGEST_WORD = 100; // a longer word is unknown

/** WordPiece: the longest known piece first, and ## where a word goes on. */
export class WordPiece {
  constructor({ vocabulary, special, unknown, lower_case: lowerCase }) {
    this.tokens = vocabulary;
    this.all = new Map(vocabulary.map((token, id) => [token, id]));
    this.ids = new Map(this.all); // without the special ones, which a text cannot write
    for (const name of special) this.ids.delete(name);
    this.unknown = this.all.get(unknown);
    this.lowerCase = lowerCase;
    this.longest = Math.max(...vocabulary.map((token) => token.length));
    this.characters = new Map();
  }

  tokenToId(token) {
    return this.all.get(token);
  }

  encode(text) {
    const clean = Array.from(text, (c) => {
      if (!this.characters.has(c)) this.characters.set(c, this.rewrite(c));
      return this.characters.get(c);
    });
    const words = clean.join("").split(" ").filter(Boolean);
    return words.flatMap((word) => this.longestFirst(word));
  }

  /** What stands for one character: nothing, itself, or several. */
  rewrite(character) {
    if (SPACE.test(character)) return " ";
    if (DROPPED.test(character)) return "";
    let text = IDEOGRAPH.test(character) ? ` ${character} ` : character;
    if (this.lowerCase) text = text.normalize("NFD").replace(/\p{Mn}/gu, "").toLowerCase();
    return Array.from(text, (c) => (PUNCTUATION.test(c) ? ` ${c} ` : c)).join("");
  }

  longestFirst(word) {
    const letters = [...word];
    if (letters.length > LONGEST_WORD) return [this.unknown];
    const pieces = [];
    for (let start = 0; start < letters.length; ) {
      const mark = start ? "##" : "";
      let end = Math.min(letters.length, start + this.longest);
      while (end > start && !this.ids.has(mark + letters.slice(start, end).join(""))) end--;
      if (end === start) return [this.unknown];
      pieces.push(this.ids.get(mark + letters.slice(start, end).join("")));
      start = end;
    }
    return pieces;
  }

  decode(ids) {
    return ids.map((id) => this.tokens[id]).join(" ").replaceAll(" ##", "");
  }
}
