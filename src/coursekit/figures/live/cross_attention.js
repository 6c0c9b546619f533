// The translator's cross-attention on a sentence of the reader's own, of all heads. State: sentence,
// block, head, side ("french" or "english"), piece (which one of that side is chosen), weights,
// tokenizer, words.

import { ranked } from "./models/layers.js";
import {
  assemble, draw, listen, make, oneOf, percent, setter, status, tasks,
} from "./ui/controls.js";
import { EXAMPLES, sentenceField, Translator } from "./ui/translator.js";

const CELL = 10;
const FAINT = 0.02; // a smaller weight is not drawn
const TOLD = 0.05; // and a number stands at weights from here on

const LOOK = `
.cross_attention .heads { display: grid; gap: 0.4rem; margin: 0.3rem 0 0.6rem; }
.cross_attention .heads button { background: none; border: 1px solid var(--line); border-radius: 0.3rem;
  color: inherit; cursor: pointer; font: inherit; font-size: 0.8rem; line-height: 1.3; min-width: 0;
  padding: 0.15rem 0.25rem 0.3rem; }
.cross_attention .heads button[aria-pressed="true"] { border-color: currentColor;
  box-shadow: inset 0 0 0 1px currentColor; font-weight: bold; }
.cross_attention .heads svg { display: block; height: 7.5rem; width: 100%; }
.cross_attention .heads .ground { fill: none; stroke: var(--line); }
.cross_attention .heads .cell { fill: var(--mark); }
.cross_attention .heads .at { fill: none; stroke: #d55e00; stroke-width: 2; vector-effect: non-scaling-stroke; }
.cross_attention .side { margin: 0; }
`;

export default {
  render({ model, el }) {
    const translator = new Translator({
      weights: model.get("weights"), tokenizer: model.get("tokenizer"), words: model.get("words"),
    });
    const { depth, heads: count } = translator.model.config;
    const put = setter(model);
    const inside = (value, size) => Math.min(Math.max(Math.round(value), 1), size) - 1;
    const chosen = () => {
      const side = model.get("side") === "english" ? "english" : "french";
      return { side, piece: inside(model.get("piece"), pieces[side].length) };
    };
    const { line, say } = status();

    let pieces = { english: [], french: [] }; // in words
    let looks = []; // of each block and head, (T, S)
    const shown = () => looks[inside(model.get("block"), depth)][inside(model.get("head"), count)];

    // --- What can be set ---

    const sentence = sentenceField((text) => {
      if (translator.read(text).length > 0) put({ sentence: text, side: "french", piece: 1 });
    });
    const words = make("p", { class: "quiet words" });
    const rows = Object.fromEntries(Object.entries({ english: "English", french: "French" }).map(
      ([side, name]) => [side, oneOf({ name: `${name} pieces`, choose: (n) => put({ side, piece: n + 1 }) })],
    ));
    for (const { group } of Object.values(rows)) group.classList.add("chips");
    const thumbs = oneOf({
      name: "Heads",
      choose: (n) => put({ block: Math.floor(n / count) + 1, head: (n % count) + 1 }),
    });
    thumbs.group.className = "heads";
    thumbs.group.style.gridTemplateColumns = `repeat(${count}, 1fr)`;

    // --- What is seen ---

    const chip = (text, side, n, ends) => make("button", {
      type: "button", class: `chip ${ends ? "ends" : ""}`,
      onpointerenter: (event) => event.pointerType === "mouse" && look({ side, piece: n }),
      onpointerleave: (event) => event.pointerType === "mouse" && look(chosen()),
    }, make("span", {}, text.trim() || "␣"), make("small", {}));
    const map = (weights) => {
      const cells = weights.flatMap((shares, t) => Array.from(shares, (share, s) => share < FAINT ? null
        : draw("rect", { class: "cell", x: s * CELL, y: t * CELL, width: CELL, height: CELL, "fill-opacity": share.toFixed(3) })));
      const [width, height] = [pieces.english.length * CELL, pieces.french.length * CELL];
      return draw("svg", { viewBox: `-1 -1 ${width + 2} ${height + 2}`, preserveAspectRatio: "none", "aria-hidden": "true" },
        draw("rect", { class: "ground", width, height }), ...cells.filter(Boolean), draw("rect", { class: "at" }));
    };

    /** What a piece shares out, or what is taken of it: one number for each piece of the other side. */
    const sharesOf = ({ side, piece }, weights = shown()) =>
      side === "french" ? Array.from(weights[piece]) : weights.map((shares) => shares[piece]);
    const look = (at) => {
      const shares = sharesOf(at);
      const other = at.side === "french" ? "english" : "french";
      [...rows[at.side].group.children].forEach((one, n) => {
        one.style.removeProperty("--share");
        one.setAttribute("aria-pressed", n === at.piece);
        one.lastChild.textContent = "";
      });
      [...rows[other].group.children].forEach((one, n) => {
        one.style.setProperty("--share", `${(35 * shares[n]).toFixed(2)}%`);
        one.setAttribute("aria-pressed", false);
        one.lastChild.textContent = shares[n] < TOLD ? "" : `${Math.round(100 * shares[n])}%`;
      });
      const [T, S] = [pieces.french.length, pieces.english.length];
      const frame = at.side === "french" ? { x: 0, y: at.piece * CELL, width: S * CELL, height: CELL }
        : { x: at.piece * CELL, y: 0, width: CELL, height: T * CELL };
      for (const mark of thumbs.group.querySelectorAll(".at")) {
        for (const [name, value] of Object.entries(frame)) mark.setAttribute(name, value);
      }
      say(told(at, shares, other));
    };
    const told = (at, shares, other) => {
      const name = (side, n) => `“${pieces[side][n].trim()}”`;
      const best = ranked(shares).slice(0, 3).filter((n) => shares[n] >= FAINT);
      const list = best.map((n) => `${name(other, n)} ${percent(shares[n])}`).join(", ");
      const who = `Block ${inside(model.get("block"), depth) + 1}, head ${inside(model.get("head"), count) + 1}`;
      return at.side === "french" ? `${who}, when ${name("french", at.piece)} was chosen: ${list}.`
        : `${who} gives most to ${name("english", at.piece)} when choosing ${list}.`;
    };

    const choose = () => {
      const at = chosen();
      for (const side of ["english", "french"]) rows[side].put(side === at.side ? at.piece : 0);
      const block = inside(model.get("block"), depth);
      const head = inside(model.get("head"), count);
      thumbs.put(block * count + head);
      [...thumbs.group.children].forEach((one, n) => one.setAttribute("aria-pressed", n === block * count + head));
      look(at);
    };
    const read = () => {
      const text = model.get("sentence");
      const source = translator.read(text).length ? translator.read(text) : translator.read(EXAMPLES[0]);
      const written = translator.translate(source);
      looks = translator.looks(source, written);
      const spelled = (id) => translator.spelled(id);
      pieces = { english: source.map(spelled), french: written.map(spelled) };
      sentence.put(text);
      words.textContent = translator.judged(text);
      for (const side of ["english", "french"]) {
        const ends = (n) => /^(\s.*|end|)$/.test(pieces[side][n + 1] ?? "");
        rows[side].fill(pieces[side].map((piece, n) => chip(piece, side, n, ends(n))));
      }
      thumbs.fill(looks.flatMap((heads, b) => heads.map((weights, h) => make("button", { type: "button" },
        `block ${b + 1}, head ${h + 1}`, map(weights)))));
      choose();
    };

    assemble(el, "cross_attention", LOOK,
      make("div", { class: "controls" }, sentence.label, sentence.ready), words,
      make("p", { class: "side" }, "It reads:"), rows.english.group,
      make("p", { class: "side" }, "It writes, piece after piece:"), rows.french.group,
      line,
      make("p", { class: "side" }, "All heads: French pieces downwards, English ones to the right"), thumbs.group,
      ...tasks("choose the second “Israël”, which should be “peuple”: which heads are at “people”, and which are not? Then write a sentence of your own.",
        "in “Jesus said to them,” French puts “leur” (them) before “dit” (said). Which heads cross over with it, most at “them” for “leur” and most at “said” for “dit”?"),
    );
    read();
    return listen(model, [read, "sentence"], [choose, "block", "head", "side", "piece"]);
  },
};
