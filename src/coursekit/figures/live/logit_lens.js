// BERT fills a blank, and what its output layer would say at each layer before the last (the "logit
// lens"). State: sentence, place (which word is hidden), follow (the token that is followed; "": the
// word that is hidden), weights, tokenizer.

import { BertForPreTraining } from "./models/bert.js";
import { ranked, softmax } from "./models/layers.js";
import { Weights } from "./models/safetensors.js";
import { WordPiece } from "./models/wordpiece.js";
import { bars, BARS } from "./ui/bars.js";
import {
  assemble, field, listen, make, oneOf, percent, setter, status, tasks,
} from "./ui/controls.js";

const SHOWN = 6; // bars
const FIRST = 3; // guesses of each layer
const ROOM = 60; // tokens on either side of the blank
const EXAMPLES = { // and which word of them is hidden
  "The word of Yahweh came to Jonah.": 5, "The president of the United States spoke.": 6,
  "And the king said to his servants,": 3, "We must protect the rights of our people.": 5,
  "My fellow Americans, tonight I ask Congress": 3,
};
const PARTS = /_+|[\p{L}\p{M}\p{N}]+(?:['’]\p{L}+)*|[^\s\p{L}\p{M}\p{N}_]+|\s+/gu;

const LOOK = `
.logit_lens .chips { margin-top: 0.6rem; }
.logit_lens .layers { list-style: none; margin: 0.4rem 0; padding: 0; }
.logit_lens .layers li { align-items: center; border-top: 1px solid var(--line); display: grid; gap: 0 0.8rem;
  grid-template-columns: 7rem 1fr 8.5rem; margin: 0; padding: 0.25rem 0; }
.logit_lens .layers .track { height: 1.05rem; position: relative; }
.logit_lens .layers .fill { background: #e69f00; inset: 0 auto 0 0; position: absolute; }
.logit_lens .layers .share { font-variant-numeric: tabular-nums; text-align: right; }
.logit_lens .layers .first { grid-column: 1 / -1; }
@media (max-width: 36rem) { .logit_lens .layers li { grid-template-columns: 6.2rem 1fr 7.6rem; gap: 0 0.5rem; } }
`;

/** BERT at a sentence with a blank. */
class Blanks {
  constructor(weights, tokenizer) {
    this.model = new BertForPreTraining(Weights.read(weights));
    this.tokenizer = new WordPiece(tokenizer);
    [this.cls, this.sep, this.mask] = ["[CLS]", "[SEP]", "[MASK]"].map((name) => this.tokenizer.tokenToId(name));
  }

  /** Parts of a text, the blanks among them null -> token ids. */
  encode(parts) {
    const ids = [];
    let text = "";
    for (const part of [...parts, null]) {
      if (part !== null) text += part;
      else {
        ids.push(...this.tokenizer.encode(text), this.mask);
        text = "";
      }
    }
    return ids.slice(0, -1);
  }

  /** What stands before and behind the blank that is asked -> of each layer the logits (V). */
  logits(before, behind) {
    const left = this.encode(before).slice(-ROOM);
    const tokens = [this.cls, ...left, this.mask, ...this.encode(behind).slice(0, ROOM), this.sep];
    return this.model.states(tokens).map((state) => this.model.maskedLM(state[left.length + 1]));
  }
}

export default {
  render({ model, el }) {
    const bert = new Blanks(model.get("weights"), model.get("tokenizer"));
    const { tokenizer } = bert;
    const put = setter(model);
    const { line, say } = status();
    const blank = (part) => part.startsWith("_");
    const isWord = (part) => /[\p{L}\p{N}_]/u.test(part);

    let parts = []; // of the sentence, spaces too
    let words = []; // where its words are among the parts
    let asked = 0; // which part is hidden
    let layers = []; // of each: shares (V), and the tokens in their order
    const place = () => Math.min(Math.max(Math.round(model.get("place")), 1), words.length);
    const piecesOf = (part) => (blank(part) ? [] : tokenizer.encode(part));

    // --- What can be set ---

    const sentence = field({
      name: "A sentence, with ___ for a blank", longest: 200, examples: Object.keys(EXAMPLES),
      hear: (text) => {
        const found = (text.match(PARTS) ?? []).filter(isWord);
        if (found.length === 0) return;
        const typed = found.findIndex(blank) + 1;
        put({ follow: "", place: typed || (EXAMPLES[text] ?? place()), sentence: text });
      },
    });
    const chips = oneOf({ name: "Words; choose one to hide it", choose: (n) => put({ follow: "", place: n + 1 }) });
    chips.group.classList.add("chips");
    const guesses = bars({
      name: "The likeliest tokens; choose one to follow it", count: SHOWN,
      choose: (n) => put({ follow: tokenizer.tokens[layers.at(-1).order[n]] }),
    });

    // --- What is seen ---

    const known = make("p", { class: "quiet" });
    const followed = make("p", { class: "followed" });
    const rows = Array.from({ length: bert.model.config.depth + 1 }, (_, n) => {
      const made = Object.fromEntries(["fill", "share", "first"].map((part) => [part, make("span", { class: part })]));
      const name = n === 0 ? "before block 1" : `after block ${n}`;
      made.item = make("li", {}, make("span", {}, name), make("span", { class: "track" }, made.fill), made.share, made.first);
      return made;
    });
    const token = (id) => tokenizer.tokens[id];
    const follow = () => {
      const id = tokenizer.tokenToId(model.get("follow"));
      if (id !== undefined) return id;
      const own = piecesOf(parts[asked]);
      return own.length === 1 && own[0] !== tokenizer.unknown ? own[0] : layers.at(-1).order[0];
    };
    const weigh = () => {
      const id = follow();
      guesses.put(layers.at(-1).order.slice(0, SHOWN).map((one) => (
        { token: token(one), share: layers.at(-1).shares[one], chosen: one === id }
      )));
      followed.textContent = `What the same output layer puts first at each layer; orange: the share of “${token(id)}”`;
      layers.forEach(({ shares, order }, n) => {
        rows[n].fill.style.width = `${(100 * shares[id]).toFixed(2)}%`;
        rows[n].share.textContent = `${percent(shares[id])}, rank ${(order.indexOf(id) + 1).toLocaleString("en")}`;
        const list = order.slice(0, FIRST).map((one) => `“${token(one)}” ${percent(shares[one])}`);
        rows[n].first.textContent = list.join(", ");
      });
      const first = layers.findIndex(({ order }) => order[0] === id);
      say(`“${token(id)}” gets ${percent(layers.at(-1).shares[id])} at the end; ` +
        (first < 0 ? "it is first at no layer." : `it is first ${first === 0 ? "before block 1" : `after block ${first}`} for the first time.`));
    };
    const judged = () => {
      const strange = parts.filter((part) => isWord(part) && piecesOf(part).includes(tokenizer.unknown));
      const own = piecesOf(parts[asked]);
      const said = strange.map((part) => `It cannot spell “${part}”, which is [UNK] for it. `);
      if (own.length > 1) said.push(`“${parts[asked]}” is ${own.length} pieces for it, and a blank is one: it cannot guess this word. `);
      return said.join("");
    };
    const read = () => {
      const text = model.get("sentence");
      parts = text.match(PARTS) ?? [];
      if (!parts.some(isWord)) parts = Object.keys(EXAMPLES)[0].match(PARTS);
      words = parts.flatMap((part, n) => (isWord(part) ? [n] : []));
      asked = words[place() - 1];
      const open = parts.map((part) => (blank(part) ? null : part));
      layers = bert.logits(open.slice(0, asked), open.slice(asked + 1)).map((logits) => {
        const shares = softmax(logits);
        return { shares, order: ranked(shares) };
      });
      sentence.put(text);
      chips.fill(words.map((n) => {
        const hidden = n === asked;
        const behind = parts[n + 1] && !/^\s/.test(parts[n + 1]) ? parts[n + 1] : "";
        const told = blank(parts[n]) ? "a blank" : `${parts[n]}${hidden ? ", hidden" : ""}`;
        return make("button", { type: "button", class: "chip ends", "aria-label": told, "aria-pressed": hidden },
          hidden ? "___" : parts[n], ...(isWord(behind) ? [] : [behind]),
          make("small", {}, hidden && !blank(parts[n]) ? parts[n] : ""));
      }), place() - 1);
      known.textContent = judged();
      weigh();
    };

    assemble(el, "logit_lens", BARS + LOOK,
      make("div", { class: "controls" }, sentence.label, sentence.ready),
      chips.group, known,
      make("p", {}, "What BERT puts into the blank"), guesses.list,
      followed, make("ol", { class: "layers" }, ...rows.map(({ item }) => item)),
      make("p", { class: "quiet" }, "The output layer was trained on what block ",
        String(bert.model.config.depth), " puts out, and on nothing else. What it says of an earlier layer " +
        "shows what can already be read there in the same way, not all that the layer knows."),
      line,
      ...tasks("choose other words to hide them, and other bars to follow them. After which block is the right word first?",
        "exchange words of the sentence, but leave as many pieces before the blank as there were. One row stays as it is, to the last digit. Which, and why?"),
    );
    read();
    return listen(model, [read, "sentence", "place"], [weigh, "follow"]);
  },
};
