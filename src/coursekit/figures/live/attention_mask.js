// A mask to play with: two rules joined by "and" or "or", cells painted by hand, how far a query reaches
// after several layers, and the weights that a row of scores gets. State: scores, first, join,
// second, radius, dilation, globals, painted, layers, empty.

import { causal, padding, softmax } from "./models/layers.js";
import {
  ARROWS, assemble, button, choice, draw, fixed, listen, make, pointIn, setter, slider, status,
  tasks,
} from "./ui/controls.js";

const RULES = {
  all: "every pair", causal: "causal", window: "window", global: "global tokens",
  end: "padding at the end", start: "padding at the start", none: "no pair",
};
const JOINS = { and: "and", or: "or" };
const EMPTY = { zeros: "gives zeros", nan: "is 0/0", finite: "has −10⁹, not −∞" };
const PADDED = 3; // how many tokens are padding
const CELL = 26;
const LEFT = 24; // room for the numbers of the queries
const SUMS = 32; // and for the sums of the rows

const LOOK = `
.attention_mask .plans { display: grid; gap: 0.8rem; grid-template-columns: repeat(auto-fit, minmax(17rem, 1fr)); margin-top: 0.6rem; }
.attention_mask .plans p { text-align: center; margin: 0 0 0.2rem; }
.attention_mask svg { display: block; width: 100%; max-width: 27rem; margin: auto; }
.attention_mask svg text { fill: currentColor; font-size: 11px; text-anchor: middle; pointer-events: none; }
.attention_mask .paint { cursor: crosshair; touch-action: pan-y; user-select: none; -webkit-user-select: none; }
.attention_mask rect { stroke: var(--line); fill: transparent; }
.attention_mask .sees rect { fill: #56b4e9; fill-opacity: 0.75; }
.attention_mask .hears rect { fill: #e69f00; fill-opacity: 0.35; }
.attention_mask .weight rect { fill: #e69f00; }
.attention_mask .cell:focus { outline: none; }
.attention_mask .cell:focus-visible rect { stroke: var(--mark); stroke-width: 3; }
.attention_mask .empty { fill: #d55e00; font-weight: bold; }
.attention_mask .numbers { margin: 0.6rem 0 0; }
`;

const grid = (T, value) =>
  Array.from({ length: T }, (_, t) => Array.from({ length: T }, (_, s) => value(t, s)));

/** The mask (T, T) of one rule, as `coursekit.masks` has it. */
function ruled(rule, T, { radius, dilation, globals }) {
  return {
    all: () => grid(T, () => true),
    none: () => grid(T, () => false),
    causal: () => causal(T),
    end: () => padding(Array.from({ length: T }, (_, s) => s < T - PADDED)),
    start: () => padding(Array.from({ length: T }, (_, s) => s >= PADDED)),
    global: () => grid(T, (t, s) => t < globals || s < globals),
    window: () => grid(T, (t, s) =>
      Math.abs(t - s) <= radius * dilation && (t - s) % dilation === 0),
  }[rule]();
}

/** After how many layers each query depends on each key (T, T); Infinity is never. */
function layersUntil(mask) {
  const T = mask.length;
  let heard = grid(T, (t, s) => t === s); // what is added to a layer's output is its own input
  const first = grid(T, (t, s) => (t === s ? 0 : Infinity));
  for (let layer = 1; layer < T; layer++) {
    heard = grid(T, (t, s) => heard[t][s] || mask[t].some((sees, k) => sees && heard[k][s]));
    first.forEach((row, t) => row.forEach((was, s) => {
      if (heard[t][s]) row[s] = Math.min(was, layer);
    }));
  }
  return first;
}

/** The weights of a row of scores under a mask, by what is done where all is forbidden. */
function weightsOf(scores, sees, empty) {
  if (sees.includes(true) || empty === "zeros") {
    return softmax(scores.map((score, s) => (sees[s] ? score : -Infinity)));
  }
  return scores.map(() => (empty === "nan" ? NaN : 1 / scores.length));
}

/** 1, 2, 3, 7 -> "1 to 3, 7" */
function spans(numbers) {
  const found = [];
  for (const number of numbers) {
    if (found.at(-1)?.[1] === number - 1) found.at(-1)[1] = number;
    else found.push([number, number]);
  }
  const written = ([a, b]) => (a === b ? `${a}` : b === a + 1 ? `${a}, ${b}` : `${a} to ${b}`);
  return found.map(written).join(", ") || "none";
}

export default {
  render({ model, el }) {
    const scores = model.get("scores");
    const T = scores.length;
    const put = setter(model);
    const known = (name, options, other) => (Object.hasOwn(options, model.get(name)) ? model.get(name) : other);
    const whole = (name, least, most) => Math.min(Math.max(Math.round(model.get(name)), least), most);
    const asked = () => ({
      first: known("first", RULES, "all"), join: known("join", JOINS, "and"),
      second: known("second", RULES, "all"), radius: whole("radius", 0, T - 1),
      dilation: whole("dilation", 1, 3), globals: whole("globals", 1, 3),
      layers: whole("layers", 1, T - 1), empty: known("empty", EMPTY, "zeros"),
    });
    const place = (n) => Number.isInteger(n) && n >= 0 && n < T;
    const painted = () => model.get("painted").filter((one) => Array.isArray(one) && place(one[0]) && place(one[1]));
    const maskOf = (now) => {
      const [a, b] = [ruled(now.first, T, now), ruled(now.second, T, now)];
      const mask = grid(T, (t, s) => (now.join === "and" ? a[t][s] && b[t][s] : a[t][s] || b[t][s]));
      for (const [t, s, on] of painted()) mask[t][s] = Boolean(on);
      return mask;
    };
    const paint = (t, s, on) => {
      if (mask[t][s] === on) return;
      const rest = painted().filter((one) => one[0] !== t || one[1] !== s);
      put({ painted: [...rest, [t, s, on ? 1 : 0]] });
    };
    const { line, say } = status();

    // --- What can be set ---

    const heard = (name) => (value) => {
      put({ [name]: value });
      say(summary());
    };
    const range = (least, most) => Array.from({ length: most - least + 1 }, (_, n) => least + n);
    const slide = (key, name, values, show = String) =>
      slider({ name, values, show, hear: (value) => put({ [key]: value }), settle: () => say(summary()) });
    const controls = {
      first: choice({ name: "First rule", options: RULES, hear: heard("first") }),
      join: choice({ name: "Joined by", options: JOINS, hear: heard("join") }),
      second: choice({ name: "Second rule", options: RULES, hear: heard("second") }),
      empty: choice({ name: "A row without keys", options: EMPTY, hear: heard("empty") }),
      radius: slide("radius", "Radius", range(0, 5)),
      dilation: slide("dilation", "Dilation", range(1, 3)),
      globals: slide("globals", "Global tokens", range(1, 3)),
      layers: slide("layers", "Layers", range(1, T - 1)),
    };

    // --- The two grids ---

    const x = (s) => LEFT + s * CELL;
    const y = (t) => 18 + t * CELL;
    const middle = (n) => n + CELL / 2;
    const cell = (t, s, more = {}) => {
      const text = draw("text", { x: middle(x(s)), y: middle(y(t)) + 4 });
      const mark = draw("g", { ...more },
        draw("rect", { x: x(s), y: y(t), width: CELL, height: CELL }), text);
      return { mark, text };
    };
    const edges = () => draw("g", { "aria-hidden": "true" },
      ...range(1, T).flatMap((n) => [
        draw("text", { x: middle(x(n - 1)), y: 13 }, n),
        draw("text", { x: 12, y: middle(y(n - 1)) + 4 }, n),
      ]));
    const row = (t, cells, role = {}) => draw("g", role, ...cells.map(({ mark }) => mark));
    let [atQuery, atKey] = [0, 0]; // the cell that the keyboard is on
    const cells = grid(T, (t, s) => cell(t, s, { class: "cell", role: "gridcell", tabindex: -1 }));
    const go = (t, s) => {
      cells[atQuery][atKey].mark.setAttribute("tabindex", -1);
      [atQuery, atKey] = [t, s];
      cells[t][s].mark.setAttribute("tabindex", 0);
    };
    go(0, 0);
    let brush = null; // what a pointer that is down paints, and where it began
    const under = (event) => {
      const { x: px, y: py } = pointIn(whoSees, event);
      const [t, s] = [Math.floor((py - 18) / CELL), Math.floor((px - LEFT) / CELL)];
      return place(t) && place(s) ? [t, s] : null;
    };
    const stroke = (event) => {
      for (const found of [brush.from, under(event)]) if (found) paint(...found, brush.on);
    };
    const whoSees = draw("svg", {
      viewBox: `0 0 ${LEFT + T * CELL + 2} ${20 + T * CELL}`, role: "grid", class: "paint",
      "aria-label": "The mask: rows are queries, columns are keys. Arrow keys move, Space paints.",
      onpointerdown: (event) => {
        const from = under(event);
        if (!from) return;
        brush = { from, on: !mask[from[0]][from[1]] };
        go(...from);
        whoSees.setPointerCapture(event.pointerId);
      },
      onpointermove: (event) => brush && stroke(event),
      onpointerup: (event) => {
        if (!brush) return;
        stroke(event);
        go(...(under(event) ?? brush.from));
        brush = null;
        say(summary());
      },
      onpointercancel: () => (brush = null), // a finger scrolls the page
      onkeydown: (event) => {
        const way = ARROWS[event.key];
        if (!way && event.key !== " " && event.key !== "Enter") return;
        event.preventDefault();
        if (way) {
          const inside = (n) => Math.min(Math.max(n, 0), T - 1);
          go(inside(atQuery - way[1]), inside(atKey + way[0]));
          cells[atQuery][atKey].mark.focus();
        } else paint(atQuery, atKey, !mask[atQuery][atKey]);
        say(summary());
      },
    }, edges(), ...cells.map((one, t) => row(t, one, { role: "row" })));
    const shares = grid(T, (t, s) => cell(t, s, { class: "weight" }));
    const sums = range(0, T - 1).map((t) => draw("text", { x: x(T) + 20, y: middle(y(t)) + 4 }));
    const weights = draw("svg", { viewBox: `0 0 ${LEFT + T * CELL + SUMS + 4} ${20 + T * CELL}`, role: "img" },
      edges(), draw("text", { x: x(T) + 20, y: 13 }, "sum"), ...shares.map((one, t) => row(t, one)), ...sums);

    // --- What is seen ---

    let mask = [];
    let first = [];
    const numbers = make("p", { class: "numbers" });
    const empties = make("p", { class: "numbers rows" });
    const count = (test) => grid(T, test).flat().filter(Boolean).length;
    const summary = () => {
      const { layers } = asked();
      const keys = (test) => spans(range(1, T).filter((n) => test(n - 1)));
      return `Query ${atQuery + 1} sees ${keys((s) => mask[atQuery][s])}; after ` +
        `${layers === 1 ? "1 layer" : `${layers} layers`} it depends on ${keys((s) => first[atQuery][s] <= layers)}.`;
    };
    const show = () => {
      const now = asked();
      mask = maskOf(now);
      first = layersUntil(mask);
      const { layers } = now;
      for (const name of Object.keys(controls)) controls[name].put(now[name]);
      const uses = (rule) => now.first === rule || now.second === rule;
      for (const [name, rule] of Object.entries({ radius: "window", dilation: "window", globals: "global" })) {
        controls[name].label.querySelector("input").disabled = !uses(rule);
        controls[name].label.style.opacity = uses(rule) ? "" : "0.45";
      }
      const said = [];
      mask.forEach((sees, t) => {
        const taken = weightsOf(scores[t], sees, now.empty);
        const sum = taken.reduce((a, b) => a + b, 0);
        const empty = !sees.includes(true);
        sees.forEach((may, s) => {
          const { mark, text } = cells[t][s];
          const hears = !may && first[t][s] <= layers;
          mark.setAttribute("class", `cell ${may ? "sees" : hears ? "hears" : ""}`);
          mark.setAttribute("aria-selected", may);
          mark.setAttribute("aria-label", `query ${t + 1}, key ${s + 1}: ${may ? "seen" : first[t][s] <= layers ? `reached after ${first[t][s]} layers` : "not seen"}`);
          text.textContent = hears ? first[t][s] : "";
          const shown = shares[t][s];
          shown.mark.firstChild.setAttribute("fill-opacity", Number.isNaN(taken[s]) ? 0 : (0.6 * taken[s]).toFixed(3));
          shown.text.textContent = Number.isNaN(taken[s]) ? "NaN"
            : taken[s] === 0 ? (may || empty ? "0" : "") : taken[s].toFixed(2).replace(/^0/, "");
          shown.text.setAttribute("class", empty ? "empty" : "");
        });
        sums[t].textContent = Number.isNaN(sum) ? "NaN" : fixed(sum, 0);
        sums[t].setAttribute("class", empty ? "empty" : "");
        if (empty) said.push(t + 1);
      });
      const [pairs, reached] = [count((t, s) => mask[t][s]), count((t, s) => first[t][s] <= layers)];
      const last = Math.max(...first.flat());
      numbers.textContent = `${pairs} of ${T * T} pairs may attend. After ${layers === 1 ? "1 layer" : `${layers} layers`}, ` +
        `outputs depend on inputs in ${reached} pairs. ` +
        (last === Infinity ? "Some tokens never depend on each other." : `Every token depends on every other after ${last === 1 ? "1 layer" : `${last} layers`}.`);
      empties.textContent = said.length === 0 ? "Every row has something to attend to."
        : `Nothing to attend to: ${said.length === 1 ? "query" : "queries"} ${spans(said)}. ` + {
          zeros: "The rows give zeros.",
          nan: "The rows are NaN, and so are the gradients of all values.",
          finite: `Each key that must not be seen gets ${fixed(1 / T, 2)}.`,
        }[now.empty];
      weights.setAttribute("aria-label", `The weights of each query. ${empties.textContent}`);
    };

    assemble(el, "attention_mask", LOOK,
      make("div", { class: "controls" }, ...Object.values(controls).map(({ label }) => label)),
      make("div", { class: "plans" },
        make("div", {}, make("p", {}, "Mask: queries down, keys across"), whoSees),
        make("div", {}, make("p", {}, "Attention weights of fixed scores"), weights)),
      numbers, empties,
      make("div", { class: "buttons" }, button("Undo painting", () => {
        put({ painted: [] });
        say(summary());
      })),
      line,
      ...tasks("choose a window, move “Layers”, and then paint one cell far from the diagonal: an orange cell says after how many layers its query depends on its key.",
        "with a window of radius 1 alone, every token depends on every other after 11 layers. Paint two more cells. How few layers can it be?"),
    );
    show();
    return listen(model, [show, ...Object.keys(controls), "painted"]);
  },
};
