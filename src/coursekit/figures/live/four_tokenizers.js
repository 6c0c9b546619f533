// A text cut by four tokenizers side by side, and the two BPEs merge by merge. State: text, merges
// (how many the BPEs have learned), tokenizer (the four by name).

import { BPE } from "./models/bpe.js";
import { ByteBPE } from "./models/byte_bpe.js";
import { Unigram } from "./models/unigram.js";
import { WordPiece } from "./models/wordpiece.js";
import {
  assemble, button, field, listen, make, runner, setter, slider, status, tasks,
} from "./ui/controls.js";

const STOPS = [0, 1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 1200, 1500, 2000]; // 2000: all of them
const PACE = 350; // milliseconds from merge to merge
const LONGEST = 120; // characters of a text
const KINDS = { BPE, ByteBPE, WordPiece, Unigram };
const EXAMPLES = [
  "Hello, y'all! How are you 😊 ?", "The best gradient descent method is grad student descent",
  "for i in range(10): x[i] += 1", "1611 + 31102 = 32713",
  "Suivez-moi, et je vous ferai pêcheurs d'hommes.", "Ἐν ἀρχῇ ἦν ὁ λόγος", "two  spaces here",
];

const LOOK = `
.four_tokenizers .cuts { margin: 0.8rem 0 0.2rem; }
.four_tokenizers .cut { border-top: 1px solid var(--line); padding: 0.4rem 0; }
.four_tokenizers .cut p { margin: 0; }
.four_tokenizers .head { display: flex; flex-wrap: wrap; justify-content: space-between; gap: 0 1rem; font-variant-numeric: tabular-nums; }
.four_tokenizers .pieces { display: flex; flex-wrap: wrap; gap: 0.25rem 0.15rem; list-style: none; margin: 0.3rem 0; padding: 0; min-height: 1.8rem; }
.four_tokenizers .pieces li { background: color-mix(in srgb, var(--own) 16%, transparent); border: 1px solid color-mix(in srgb, var(--own) 55%, transparent); border-radius: 0.25rem; font-family: var(--pst-font-family-monospace, monospace); font-size: 0.9rem; line-height: 1.5; margin: 0; padding: 0 0.25rem; white-space: pre; --own: #56b4e9; }
.four_tokenizers .pieces li:nth-child(even) { --own: #e69f00; }
.four_tokenizers .pieces li.unknown:nth-child(n) { --own: #d55e00; border: 2px dashed var(--own); font-weight: bold; }
.four_tokenizers .pieces .new { box-shadow: inset 0 0 0 1.5px currentColor; border-color: currentColor; }
.four_tokenizers .byte { font-size: 0.78rem; }
.four_tokenizers .merge { color: var(--quiet); font-size: 0.85rem; min-height: 1.5em; }
@media (max-width: 36rem) { .four_tokenizers .head span { font-size: 0.88rem; } }
`;

export default {
  render({ model, el }) {
    const all = Object.entries(model.get("tokenizer")).map(([name, state]) =>
      ({ name, tokenizer: new KINDS[state.tokenizer](state) }));
    const put = setter(model);
    const mergers = all.filter(({ tokenizer }) => tokenizer.ranks);
    const most = Math.max(...mergers.map(({ tokenizer }) => tokenizer.ranks.size));
    const text = () => [...model.get("text")].slice(0, LONGEST).join("");
    const merges = () => Math.min(Math.max(Math.round(model.get("merges")) || 0, 0), most);
    const counted = (count, word) => `${count.toLocaleString("en")} ${word}${count === 1 ? "" : "s"}`;
    const { line, say } = status();

    // --- How pieces are written ---

    const strict = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });
    const visible = (piece) => piece.replaceAll(" ", "␣").replaceAll("\t", "⇥").replaceAll("</w>", "·");
    /** A token as it is shown, and whether as its bytes, since it is no whole character. */
    const written = (tokenizer, token) => {
      if (!tokenizer.bytes) return [visible(token), false];
      const bytes = Uint8Array.from(token, (letter) => tokenizer.bytes.get(letter));
      try {
        return [visible(strict.decode(bytes)), false];
      } catch {
        return [Array.from(bytes, (byte) => byte.toString(16).toUpperCase().padStart(2, "0")).join(" "), true];
      }
    };

    // --- What can be set ---

    const settled = () => say(summary());
    const typed = field({ name: "A text of your own", longest: LONGEST, examples: EXAMPLES, hear: (value) => put({ text: value }) });
    const learned = slider({ name: "BPE merges", values: STOPS, show: (value) => (value >= most ? "all" : value.toLocaleString("en")),
      hear: (value) => put({ merges: Math.min(value, most) }), settle: settled });
    const next = () => ranks.find((rank) => rank >= merges());
    const step = () => put({ merges: next() === undefined ? most : next() + 1 });
    const back = button("Merge before", () => {
      const before = ranks.filter((rank) => rank + 1 < merges());
      put({ merges: before.length ? before.at(-1) + 1 : 0 });
      settled();
    });
    const forward = button("Next merge", () => {
      step();
      settled();
    });
    const run = runner({ el, pace: PACE, step, more: () => next() !== undefined,
      done: (count) => say(`${counted(count, "merge")} that this text uses. ${summary()}`) });
    const none = button("No merges", () => {
      put({ merges: 0 });
      settled();
    });

    // --- What is seen ---

    const rows = all.map(({ name, tokenizer }) => {
      const [told, pieces, merge] = [make("span"), make("ul", { class: "pieces", "aria-label": `Pieces of ${name}` }), make("p", { class: "merge" })];
      const item = make("div", { class: "cut" }, make("p", { class: "head" }, make("b", {}, name), told), pieces);
      if (tokenizer.ranks) item.append(merge);
      return { name, tokenizer, told, pieces, merge, item, pairs: tokenizer.ranks && [...tokenizer.ranks.keys()] };
    });
    let ranks = []; // of all merges that the text uses, in either BPE
    let counts = [];
    const summary = () => `${merges() >= most ? "All merges" : counted(merges(), "merge")}: ` +
      `${counts.map(([name, count, lost]) => `${name} ${counted(count, "token")}${lost ? `, ${lost} unknown` : ""}`).join("; ")}.`;

    const show = () => {
      const [read, limit] = [text(), merges()];
      const used = new Set();
      for (const { tokenizer } of mergers) tokenizer.tokensOf(read, Infinity, used);
      ranks = [...used].sort((a, b) => a - b);
      counts = rows.map(({ name, tokenizer, told, pieces, merge, pairs }) => {
        const tokens = tokenizer.ranks ? tokenizer.tokensOf(read, limit) : tokenizer.encode(read).map((id) => tokenizer.tokens[id]);
        const unknown = typeof tokenizer.unknown === "number" ? tokenizer.tokens[tokenizer.unknown] : tokenizer.unknown;
        const lost = tokens.filter((token) => token === unknown).length;
        const whole = tokenizer.decode(tokenizer.encode(read)) === read;
        const [left, right] = (pairs?.[limit - 1] ?? "").split(" ");
        const made = limit < most && right !== undefined ? left + right : null;
        told.textContent = `${counted(tokens.length, "token")}${lost ? `, ${lost} unknown` : ""} · text comes back: ${whole ? "yes" : "no"}`;
        pieces.replaceChildren(...tokens.map((token) => {
          const [shown, isBytes] = written(tokenizer, token);
          const kinds = { unknown: token === unknown, new: token === made, byte: isBytes };
          return make("li", { class: Object.keys(kinds).filter((kind) => kinds[kind]).join(" ") }, shown);
        }));
        if (pairs) {
          const joins = [left, right, made].map((token) => token && written(tokenizer, token)[0]);
          const here = tokens.includes(made) ? "" : ", which is not in this text";
          merge.textContent = limit === 0 ? "No merge yet: the alphabet alone." : made === null
            ? `All ${pairs.length.toLocaleString("en")} merges.`
            : `Merge ${limit.toLocaleString("en")} joins ${joins[0]} and ${joins[1]} to ${joins[2]}${here}.`;
        }
        return [name, tokens.length, lost];
      });
      typed.put(read);
      learned.put(limit >= most ? STOPS.at(-1) : limit);
      back.disabled = none.disabled = limit === 0;
      forward.disabled = run.button.disabled = next() === undefined;
    };

    assemble(el, "four_tokenizers", LOOK,
      make("div", { class: "controls" }, typed.label, typed.ready, learned.label),
      make("div", { class: "buttons" }, none, back, forward, run.button),
      make("div", { class: "cuts" }, ...rows.map(({ item }) => item)),
      line,
      ...tasks("type your own name, or choose a text. Then press No merges, and Next merge again and again.",
        "type “the the”, the same word twice. One of the four gives two different tokens. Which, and why?"),
    );
    const unlisten = listen(model, [show, "text", "merges"]);
    show();
    return () => {
      run.stop();
      unlisten();
    };
  },
};
