// A dictionary in the prompt: a GPT of two blocks looks up an entry, and one of a single block, which
// reads the same prompt, cannot. State: prompt (letters with a digit each, and a letter at the end),
// first and second (the heads shown of the two blocks), single (the head shown of the other model),
// weights (of two blocks), one_block (weights, in base64).

import { greedy, random } from "./models/decoding.js";
import { GPT } from "./models/gpt.js";
import { ranked, softmax } from "./models/layers.js";
import { Weights } from "./models/safetensors.js";
import {
  assemble, button, choice, draw, field, listen, make, oneOf, percent, setter, status, tasks,
} from "./ui/controls.js";

const LETTERS = "abcdefghijklmnop";
const SIGNS = `${LETTERS}0123456789`; // the tokens
const MOST = 21; // tokens of a prompt
const [TRIED, AT_ONCE] = [50, 2]; // random dictionaries
const SHOWN = 3; // predictions
const FAINT = 0.05; // a smaller weight is not drawn
const [STEP, BOX, LEVELS, NAMES] = [24, 22, 100, 58]; // of a drawing: token to token, a token, row to row, its names
const EXAMPLES = ["c7f2h0a4c7m9f2h", "c7f2h0a4c7m9f2b", "h5a4h5h0h", "b4b8b", "a4b5c6d7e8f9g0h1a"];

const LOOK = `
.induction_heads .two { display: grid; gap: 0.4rem 1.4rem; grid-template-columns: 1fr 1fr; margin: 0.3rem 0; }
.induction_heads .two > div { min-width: 0; }
.induction_heads .drawing { aspect-ratio: 1.75; display: block; margin: auto; max-width: 100%; width: 100%; }
.induction_heads .drawing text { fill: currentColor; font-size: 15px; text-anchor: middle; }
.induction_heads .drawing .row { text-anchor: start; }
.induction_heads .drawing rect { fill: none; stroke: var(--line); }
.induction_heads .drawing .hit { fill: color-mix(in srgb, #d55e00 25%, transparent); stroke: #d55e00; }
.induction_heads .drawing path { fill: none; stroke: var(--mark); stroke-width: 2.5; }
.induction_heads .drawing .key { stroke: #d55e00; }
.induction_heads .guesses { list-style: none; margin: 0.2rem 0; padding: 0; }
.induction_heads .guesses li { align-items: center; display: grid; gap: 0.6rem; grid-template-columns: 1.4rem 1fr 3.6rem;
  margin: 0; }
.induction_heads .track { height: 0.9rem; position: relative; }
.induction_heads .fill { background: var(--mark); inset: 0 auto 0 0; position: absolute; }
.induction_heads .answer .fill { background: #d55e00; }
.induction_heads .share { font-variant-numeric: tabular-nums; text-align: right; }
.induction_heads h4 { font-size: 1rem; margin: 0.2rem 0; }
.induction_heads .verdict { margin: 0.1rem 0 0.4rem; min-height: 1.5em; }
.induction_heads .chips { margin-top: 0.6rem; }
@media (max-width: 36rem) { .induction_heads .two { grid-template-columns: 1fr; }
  .induction_heads .two > :last-child .drawing { aspect-ratio: 3; } }
`;

/** A text -> the prompt in it, or null: letters from a to p with a digit each, and a letter. */
export function promptOf(text) {
  const signs = text.toLowerCase().replace(/[^a-z0-9]/g, "");
  return /^([a-p][0-9])*[a-p]$/.test(signs) ? signs.slice(-MOST) : null;
}

/** The digits that the prompt gives for the letter at its end. */
export function answersOf(prompt) {
  const asked = prompt.at(-1);
  return [...prompt].filter((_, n) => n % 2 === 1 && prompt[n - 1] === asked);
}

/** A prompt of `pairs` entries of a random dictionary, as in the training; the letter occurs in it. */
export function randomPrompt(seed, pairs) {
  let n = 0;
  const below = (size) => Math.floor(size * random(seed, n++));
  const letters = [...[...LETTERS].keys()];
  const entries = Array.from({ length: 8 }, () => {
    const [letter] = letters.splice(below(letters.length), 1);
    return LETTERS[letter] + ((letter + 2 + below(8)) % 10);
  });
  const text = Array.from({ length: pairs }, () => entries[below(entries.length)]);
  return text.join("") + text[below(pairs)][0];
}

export default {
  render({ model, el }) {
    const models = ["weights", "one_block"].map((name) => new GPT(Weights.read(model.get(name))));
    const put = setter(model);
    const { line, say } = status();
    const idsOf = (prompt) => [...prompt].map((sign) => SIGNS.indexOf(sign));
    const digit = (logits) => SIGNS[greedy(logits)];
    const prompt = () => promptOf(model.get("prompt")) ?? EXAMPLES[0];
    const pairs = () => (prompt().length - 1) / 2;
    let drawn = 0; // dictionaries drawn by hand

    // --- What can be set ---

    const typed = field({
      name: "Letters a to p, a digit after each; a letter last", longest: 60, examples: EXAMPLES,
      hear: (text) => {
        const good = promptOf(text);
        if (good) put({ prompt: good });
        else say("Write a letter from a to p and a digit, as often as you like, and a letter at the end: c7f2c");
      },
    });
    const chips = oneOf({ name: "The prompt; choose an entry to ask for its letter", choose: (n) => ask(prompt()[n - (n % 2)]) });
    chips.group.classList.add("chips");
    const ask = (letter) => put({ prompt: prompt().slice(0, -1) + letter });
    const absent = () => [...LETTERS].find((letter) => !prompt().slice(0, -1).includes(letter));
    const buttons = make("div", { class: "buttons" },
      button("New dictionary", () => put({ prompt: randomPrompt(++drawn, Math.max(pairs(), 4)) })),
      button("One pair more", () => {
        const [text, asked] = [prompt().slice(0, -1), prompt().at(-1)];
        const letter = [...LETTERS].filter((one) => !text.includes(one))[pairs() % 6]; // at most 10 occur
        put({ prompt: `${text}${letter}${(LETTERS.indexOf(letter) + 2 + (3 * pairs()) % 8) % 10}${asked}` });
      }),
      button("One pair less", () => put({ prompt: prompt().slice(2) || prompt() })),
      button("Ask for a letter that is not there", () => ask(absent())));
    const heads = (count, block) => Object.fromEntries(
      Array.from({ length: count }, (_, h) => [String(h + 1), `head ${block}.${h + 1}`]));
    const count = models[0].config.heads;
    const picks = {
      first: choice({ name: "Two blocks: head of block 1", options: heads(count, 1), hear: (h) => put({ first: Number(h) }) }),
      second: choice({ name: "Two blocks: head of block 2", options: heads(count, 2), hear: (h) => put({ second: Number(h) }) }),
      single: choice({ name: "One block: its head", options: heads(models[1].config.heads, 1), hear: (h) => put({ single: Number(h) }) }),
    };
    const picked = (name) => Math.min(Math.max(Math.round(model.get(name)), 1), count) - 1;

    // --- What is seen ---

    const panel = (title) => {
      const parts = { drawing: draw("svg", { class: "drawing", role: "img", preserveAspectRatio: "xMidYMax meet" }), verdict: make("p", { class: "verdict" }) };
      parts.rows = Array.from({ length: SHOWN }, () => {
        const row = { token: make("span"), fill: make("span", { class: "fill" }), share: make("span", { class: "share" }) };
        row.item = make("li", {}, row.token, make("span", { class: "track" }, row.fill), row.share);
        return row;
      });
      parts.box = make("div", {}, make("h4", {}, title), parts.drawing,
        make("ol", { class: "guesses", "aria-label": `${title}: its three likeliest tokens` }, ...parts.rows.map(({ item }) => item)),
        parts.verdict);
      return parts;
    };
    const panels = [panel("Two blocks"), panel("One block (the control)")];
    const scored = make("p", {});

    /** Rows of tokens from below, and lines between them: [row, from, to, weight, whether it is the key]. */
    const sketch = (svg, text, depth, lines, hits, alt) => {
      const T = text.length;
      const [width, height] = [NAMES + STEP * Math.max(T, 15), LEVELS * depth + 36];
      const x = (t) => NAMES + STEP * (t + 0.5);
      const y = (row) => height - 18 - LEVELS * row;
      const boxes = [];
      for (let row = 0; row <= depth; row++) {
        for (let t = row === depth ? T - 1 : 0; t < T; t++) {
          boxes.push(draw("rect", { class: hits.includes(t) && row === depth - 1 ? "hit" : "", x: x(t) - BOX / 2, y: y(row) - BOX / 2, width: BOX, height: BOX, rx: 3 }),
            draw("text", { x: x(t), y: y(row) + 5 }, text[t]));
        }
      }
      const paths = lines.map(([row, from, to, weight, key]) => draw("path", {
        class: key ? "key" : "", "stroke-opacity": weight.toFixed(2),
        d: `M${x(from)} ${y(row) - BOX / 2}L${x(to)} ${y(row + 1) + BOX / 2}`,
      }));
      const names = Array.from({ length: depth }, (_, row) =>
        draw("text", { class: "row", x: 0, y: y(row + 1) + 5 }, `block ${row + 1}`));
      svg.replaceChildren(...paths, ...boxes, ...names);
      svg.setAttribute("viewBox", `0 0 ${width} ${height}`);
      svg.setAttribute("aria-label", alt);
    };
    const guess = ({ rows, verdict }, logits, answers) => {
      const shares = softmax(logits);
      ranked(shares).slice(0, SHOWN).forEach((id, n) => {
        rows[n].token.textContent = SIGNS[id];
        rows[n].fill.style.width = `${(100 * shares[id]).toFixed(1)}%`;
        rows[n].share.textContent = percent(shares[id]);
        rows[n].item.classList.toggle("answer", answers.includes(SIGNS[id]));
      });
      verdict.textContent = answers.length === 0 ? "The prompt does not say it: any digit is a guess."
        : answers.includes(digit(logits)) ? `Right: the prompt says ${[...new Set(answers)].join(" or ")}.`
          : `Wrong: the prompt says ${[...new Set(answers)].join(" or ")}.`;
      return shares;
    };

    const scores = new Map(); // by the number of pairs: [dictionaries tried, right of two blocks, of one]
    const score = (number) => {
      const [tried, ...right] = scores.get(number) ?? scores.set(number, [0, 0, 0]).get(number);
      scored.textContent = `Of ${tried} random dictionaries with ${number} ${number > 1 ? "pairs" : "pair"}, ` +
        `asked for a letter that occurs, two blocks answer ${right[0]} right, one block ${right[1]}.`;
      if (tried === TRIED) return;
      setTimeout(() => { // a few at a time, so that the page can be used
        if (!el.isConnected || Math.max(pairs(), 1) !== number || scores.get(number)[0] !== tried) return;
        const texts = Array.from({ length: AT_ONCE }, (_, n) => randomPrompt(1000 * number + tried + n, number));
        const hits = models.map((one) => texts.filter((text) => answersOf(text)[0] === digit(one.forward(idsOf(text)).at(-1))).length);
        scores.set(number, [tried + AT_ONCE, ...right.map((count, k) => count + hits[k])]);
        score(number);
      });
    };
    const show = () => {
      const text = prompt();
      const last = text.length - 1;
      const answers = answersOf(text);
      const hits = [...text].flatMap((sign, n) => (n % 2 && text[n - 1] === text[last] ? [n] : []));
      const seen = models.map((one) => {
        const looks = [];
        const logits = one.forward(idsOf(text), { seen: (b, kind, some) => (looks[b] = some) }).at(-1);
        return { looks, logits };
      });
      const [two, one] = seen;
      const [first, second, single] = [two.looks[0][picked("first")], two.looks[1][picked("second")], one.looks[0][picked("single")]];
      const from = (weights, row, t) => Array.from(weights[t], (weight, s) => [row, s, t, weight,
        row === 0 && t < last ? hits.includes(t) && s === t - 1 : hits.includes(s)]).filter(([, , , weight]) => weight >= FAINT);
      const digits = [...[...text].keys()].filter((t) => t % 2 === 1);
      const most = (shares) => `${text[ranked(shares)[0]]} (${percent(Math.max(...shares))})`;
      const [a, b, c] = ["first", "second", "single"].map(picked);
      sketch(panels[0].drawing, text, 2,
        [...digits.flatMap((t) => from(first, 0, t)), ...from(second, 1, last)], hits,
        `Head 1.${a + 1} from each digit, head 2.${b + 1} from the last letter, most to ${most(second[last])}.`);
      sketch(panels[1].drawing, text, 1, from(single, 0, last), hits,
        `Head 1.${c + 1} from the last letter, most to ${most(single[last])}.`);
      const guesses = seen.map(({ logits }, k) => guess(panels[k], logits, answers));
      const best = (shares) => `${SIGNS[ranked(shares)[0]]} (${percent(Math.max(...shares))})`;
      say(`After “${text}” two blocks say ${best(guesses[0])}, one block ${best(guesses[1])}.`);
      for (const name of Object.keys(picks)) picks[name].put(String(picked(name) + 1));
    };
    const read = () => {
      const text = prompt();
      typed.put(text);
      chips.fill([...text].map((sign, n) => make("button", {
        type: "button", class: `chip ${n % 2 ? "ends" : ""}`,
        "aria-label": n === text.length - 1 ? `${sign}, asked` : n % 2 ? `${sign}, of ${text[n - 1]}` : sign,
        "aria-pressed": n === text.length - 1,
      }, sign)), text.length - 1);
      const [less, more] = [buttons.children[2], buttons.children[1]];
      less.disabled = pairs() < 2;
      more.disabled = text.length + 2 > MOST;
      score(Math.max(pairs(), 1));
      show();
    };

    assemble(el, "induction_heads", LOOK,
      make("div", { class: "controls" }, typed.label, typed.ready), chips.group, buttons,
      make("div", { class: "two" }, ...panels.map(({ box }) => box)), line, scored,
      make("div", { class: "controls" }, ...Object.values(picks).map(({ label }) => label)),
      ...tasks("give one letter two different digits, the first one twice: h5a4h5h0h. Does the model count, or take the last?",
        "ask for a letter that is not there. At which token do most heads of block 2 look then?"),
    );
    read();
    return listen(model, [read, "prompt"], [show, "first", "second", "single"]);
  },
};
