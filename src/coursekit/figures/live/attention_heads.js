// All attention heads of the small BERT on a sentence of the reader's own, trained and untrained.
// State: sentence, block, head (counted from 1), piece (the token that looks), model_is ("trained" or
// "untrained"), spread (of an untrained model's matrices), weights, tokenizer.

import { BertForPreTraining } from "./models/bert.js";
import { ranked } from "./models/layers.js";
import { Weights } from "./models/safetensors.js";
import { untrained } from "./models/untrained.js";
import { WordPiece } from "./models/wordpiece.js";
import {
  assemble, choice, draw, field, fixed, listen, make, oneOf, percent, setter, status, tasks,
} from "./ui/controls.js";

const MOST_READ = 40; // tokens of a sentence, without [CLS] and [SEP]
const TOLD = 0.05; // a smaller weight is not written below a token
const SHADES = 8; // of a map's cells
const EXAMPLES = [
  "The king of Israel said to the people, and they answered him.",
  "him king the answered, people Israel and of they to said The.",
  "The word of Yahweh came to Jonah.", "Jesus said to them, “Why are you afraid?”",
  "We must protect the rights of our people.",
];
const MODELS = { trained: "trained", untrained: "not trained yet (the control)" };
const PLACES = { before: "token before", itself: "itself", after: "token after", ends: "[CLS], [SEP]" };

const LOOK = `
.attention_heads .heads { display: grid; gap: 0.3rem; grid-template-columns: repeat(8, 1fr); margin: 0.3rem 0 0.6rem; }
.attention_heads .heads button { background: none; border: 1px solid var(--line); border-radius: 0.3rem; color: inherit;
  cursor: pointer; font: inherit; font-size: 0.8rem; line-height: 1.3; min-width: 0; padding: 0.1rem 0.2rem 0.25rem; }
.attention_heads .heads button[aria-pressed="true"] { border-color: currentColor;
  box-shadow: inset 0 0 0 1px currentColor; font-weight: bold; }
.attention_heads .heads svg { aspect-ratio: 1; display: block; width: 100%; }
.attention_heads .ground { fill: none; stroke: var(--line); vector-effect: non-scaling-stroke; }
.attention_heads .cell { fill: var(--mark); }
.attention_heads .at { fill: none; stroke: #d55e00; stroke-width: 1.5; vector-effect: non-scaling-stroke; }
@media (min-width: 48rem) { .attention_heads .controls { grid-template-columns: 5fr 3fr 3fr; } }
.attention_heads .side { margin: 0.3rem 0 0; }
.attention_heads table { margin: 0.2rem 0 0.5rem; }
.attention_heads tbody th { text-align: left; }
@media (max-width: 36rem) { .attention_heads .heads { grid-template-columns: repeat(4, 1fr); } }
`;

/** Weights (T, T) -> the mean weight on the token before, itself, the one after, and on both ends. */
export function measured(weights) {
  const last = weights.length - 1;
  const mean = (all) => all.reduce((a, b) => a + b, 0) / all.length;
  return {
    before: mean(weights.slice(1).map((row, t) => row[t])),
    itself: mean(weights.map((row, t) => row[t])),
    after: mean(weights.slice(0, -1).map((row, t) => row[t + 1])),
    ends: mean(weights.map((row) => row[0] + row[last])),
  };
}

/** Weights (T, T) as a drawing: rows look, columns are looked at. */
function map(weights) {
  const side = weights.length;
  const paths = Array.from({ length: SHADES + 1 }, () => "");
  weights.forEach((row, t) => row.forEach((share, s) => {
    paths[Math.round(SHADES * share)] += `M${s} ${t}h1v1h-1z`;
  }));
  const cells = paths.flatMap((d, shade) => (shade && d
    ? [draw("path", { class: "cell", d, "fill-opacity": (shade / SHADES).toFixed(3) })] : []));
  return draw("svg", { viewBox: `-0.2 -0.2 ${side + 0.4} ${side + 0.4}`, "aria-hidden": "true" },
    draw("rect", { class: "ground", width: side, height: side }), ...cells,
    draw("rect", { class: "at", width: side, height: 1 }));
}

export default {
  render({ model, el }) {
    const weights = Weights.read(model.get("weights"));
    const tokenizer = new WordPiece(model.get("tokenizer"));
    const models = { trained: new BertForPreTraining(weights) };
    const { depth, heads: count } = models.trained.config;
    const put = setter(model);
    const { line, say } = status();
    const inside = (value, size) => Math.min(Math.max(Math.round(value), 1), size) - 1;
    const isTrained = () => model.get("model_is") !== "untrained";
    const bert = () => {
      if (isTrained()) return models.trained;
      return (models.untrained ??= new BertForPreTraining(untrained(weights, { spread: model.get("spread") })));
    };

    let tokens = []; // in words, with [CLS] and [SEP]
    let looks = []; // of each block and head, (T, T)
    const block = () => inside(model.get("block"), depth);
    const head = () => inside(model.get("head"), count);
    const piece = () => inside(model.get("piece"), tokens.length);
    const shown = () => looks[block()][head()];
    const named = () => `Head ${block() + 1}.${head() + 1}`;

    // --- What can be set ---

    const sentence = field({
      name: "A sentence in English", longest: 160, examples: EXAMPLES,
      hear: (text) => tokenizer.encode(text).length > 0 && put({ sentence: text }),
    });
    const which = choice({ name: "The model", options: MODELS, hear: (value) => put({ model_is: value }) });
    const chips = oneOf({ name: "Tokens; choose the one that looks", choose: (n) => put({ piece: n + 1 }) });
    chips.group.classList.add("chips");
    const thumbs = oneOf({
      name: "Heads, block by block",
      choose: (n) => put({ block: Math.floor(n / count) + 1, head: (n % count) + 1 }),
    });
    thumbs.group.className = "heads";

    // --- What is seen ---

    const note = make("p", { class: "quiet" });
    const asks = make("p", { class: "side" });
    const caption = make("p", { class: "side" });
    const rows = Object.fromEntries(["head", "even"].map((name) => [name, make("tr")]));
    const table = make("table", {},
      make("thead", {}, make("tr", {}, make("th"), ...Object.values(PLACES).map((name) => make("th", { scope: "col" }, name)))),
      make("tbody", {}, rows.head, rows.even));
    const filled = (row, name, values) => row.replaceChildren(make("th", { scope: "row" }, name),
      ...Object.keys(PLACES).map((place) => make("td", {}, fixed(values[place], 2))));

    const look = (at) => {
      const shares = Array.from(shown()[at]);
      [...chips.group.children].forEach((one, n) => {
        one.style.setProperty("--share", `${(55 * shares[n]).toFixed(2)}%`);
        one.setAttribute("aria-pressed", n === at);
        one.lastChild.textContent = shares[n] < TOLD ? "" : `${Math.round(100 * shares[n])}%`;
      });
      for (const mark of thumbs.group.querySelectorAll(".at")) mark.setAttribute("y", at);
      asks.textContent = `${named()}: where does “${tokens[at]}” look?`;
      const best = ranked(shares).slice(0, 3).map((n) => `“${tokens[n]}” ${percent(shares[n])}`);
      say(`${named()}, from “${tokens[at]}”: ${best.join(", ")}.`);
    };
    const choose = () => {
      const n = block() * count + head();
      thumbs.put(n);
      [...thumbs.group.children].forEach((one, k) => one.setAttribute("aria-pressed", k === n));
      chips.put(piece());
      const T = tokens.length;
      filled(rows.head, `${named()}${isTrained() ? "" : ", untrained"}`, measured(shown()));
      filled(rows.even, "uniform attention", measured(shown().map((row) => row.map(() => 1 / T))));
      look(piece());
    };
    const read = () => {
      let ids = tokenizer.encode(model.get("sentence"));
      if (ids.length === 0) ids = tokenizer.encode(EXAMPLES[0]);
      const cut = ids.length > MOST_READ;
      const special = (name) => tokenizer.tokenToId(name);
      ids = [special("[CLS]"), ...ids.slice(0, MOST_READ), special("[SEP]")];
      tokens = ids.map((id) => tokenizer.tokens[id]);
      looks = [];
      bert().states(ids, { seen: (b, kind, some) => (looks[b] = some) });
      sentence.put(model.get("sentence"));
      which.put(isTrained() ? "trained" : "untrained");
      const strange = tokens.includes(tokenizer.tokens[tokenizer.unknown]);
      note.textContent = cut ? `It reads the first ${MOST_READ} tokens only.`
        : strange ? "What it cannot spell is [UNK]." : "";
      note.hidden = note.textContent === "";
      chips.fill(tokens.map((token, n) => make("button", {
        type: "button", class: `chip ${tokens[n + 1]?.startsWith("##") ? "" : "ends"}`,
        onpointerenter: (event) => event.pointerType === "mouse" && look(n),
        onpointerleave: (event) => event.pointerType === "mouse" && look(piece()),
      }, make("span", {}, token), make("small", {}))));
      thumbs.fill(looks.flatMap((some, b) => some.map((one, h) => make("button", {
        type: "button", "aria-label": `block ${b + 1}, head ${h + 1}`,
      }, `${b + 1}.${h + 1}`, map(one)))));
      choose();
    };

    caption.textContent = "All heads (block.head): a row for each token that looks, a column for each it looks at";
    assemble(el, "attention_heads", LOOK,
      make("div", { class: "controls" }, sentence.label, sentence.ready, which.label), note,
      asks, chips.group, line, caption, thumbs.group,
      make("p", { class: "side" }, "Mean weight over the tokens of this sentence:"), table,
      ...tasks("choose heads whose maps show a line. Then switch to the untrained model, the control: which maps still have one?",
        "the second ready sentence has the words of the first, shuffled. Which heads look where they looked before, and which do not?"),
    );
    read();
    return listen(model, [read, "sentence", "model_is"], [choose, "block", "head", "piece"]);
  },
};
