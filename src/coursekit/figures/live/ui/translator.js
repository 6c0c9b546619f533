// The translator of the course, as figures let it read a sentence that somebody has typed.

import { ByteBPE } from "../models/byte_bpe.js";
import { generate } from "../models/decoding.js";
import { Weights } from "../models/safetensors.js";
import { Seq2SeqTransformer } from "../models/seq2seq.js";
import { field } from "./controls.js";

const LONGEST_SENTENCE = 120; // characters
const MOST_READ = 40; // tokens of a sentence
const LONGER = 20; // how many tokens a translation may be longer than its source
export const EXAMPLES = [
  "The king of Israel said to the people:", "Jesus said to them,", "David went up to Jerusalem.",
  "The king saw the servant.", "The word of Yahweh came to me, saying,",
];

export class Translator {
  constructor({ weights, tokenizer, words }) {
    this.model = new Seq2SeqTransformer(Weights.read(weights));
    this.tokenizer = new ByteBPE(tokenizer);
    this.words = new Set(words.split(" ")); // that it has often met
    ({ start: this.start, end: this.end } = this.model.config);
  }

  /** A sentence -> token ids; its verses have straight quotes only. */
  read(sentence) {
    const straight = sentence.replace(/[“”]/g, '"').replace(/[‘’]/g, "'").trim();
    return this.tokenizer.encode(straight).slice(0, MOST_READ);
  }

  longest(source) {
    return source.length + LONGER;
  }

  /** Token ids -> the token ids that are written greedily. */
  translate(source) {
    const { model, start, end } = this;
    return generate(model, [start], model.start(source), { longest: this.longest(source), end });
  }

  /** Source, written -> the cross-attention of each block and head at each token written. */
  looks(source, written) {
    const blocks = [];
    const seen = (block, kind, weights) => {
      if (kind === "cross") blocks[block] = weights;
    };
    this.model.forward(source, [this.start, ...written.slice(0, -1)], { seen });
    return blocks;
  }

  /** A token as it stands in the text; bytes that are no letter by themselves as numbers. */
  spelled(id) {
    if (id === this.end) return "end";
    const text = this.tokenizer.decode([id]);
    if (!text.includes("\ufffd")) return text;
    return this.tokenizer.bytesOf(id).map((byte) => byte.toString(16)).join(" ");
  }

  textOf(ids) {
    return this.tokenizer.decode(ids.filter((id) => id !== this.end)).trim();
  }

  /** Which words of a sentence its training has hardly met, in words. */
  judged(sentence) {
    const found = sentence.toLowerCase().replaceAll("’", "'").match(/\p{L}+(?:'\p{L}+)*/gu) ?? [];
    const strange = [...new Set(found.filter((word) => !this.words.has(word)))];
    if (this.read(sentence).length === MOST_READ) return `It reads the first ${MOST_READ} pieces only.`;
    if (strange.length === 0) return "It has met all of these words in its training.";
    const listed = strange.map((word) => `“${word}”`).join(", ");
    return `It has hardly met ${listed} in its training, if at all.`;
  }
}

/** Where a sentence is typed: it is heard when the typing rests. */
export function sentenceField(hear) {
  let waiting;
  return field({
    name: "English, as the Bible has it", longest: LONGEST_SENTENCE, examples: EXAMPLES,
    hear: (text) => {
      clearTimeout(waiting);
      waiting = setTimeout(() => hear(text), EXAMPLES.includes(text) ? 0 : 250);
    },
  });
}
