// A soft lookup to play with: move the query or a key, choose the kernel, and see scores, shares
// and the answer. State: titles, books (their keys), values, query, kernel, bandwidth.

import { softmax, weightedMeans } from "./models/layers.js";
import {
  assemble, choice, draw, fixed, listen, make, setter, slider, status, tasks,
} from "./ui/controls.js";
import { movablePoint, MOVING, plane } from "./ui/moving.js";

const BANDWIDTHS = [0.1, 0.2, 0.3, 0.5, 0.7, 1, 1.5, 2, 3, 5];
const KERNELS = { gaussian: "Gaussian", cosine: "cosine", dot: "dot", scaled_dot: "scaled dot" };
const TOPICS = { low: [-0.5, -0.3], high: [4.5, 4.5], across: "about language", along: "about mathematics" };
const ROOM = { low: [-0.7, -0.3], high: [10.9, 7.3], across: "along the room (m)", along: "across the room (m)" };
const SIDE = { width: 320, height: 268, left: 36, right: 8, top: 8, bottom: 36 };
const DOT = { least: 4, more: 15 }; // radius of a share of 0, and what a share of 1 adds
const STEP = 0.1;

const LOOK = `
.soft_lookup .plans { display: grid; gap: 0.5rem; grid-template-columns: repeat(auto-fit, minmax(17rem, 1fr)); }
.soft_lookup svg { display: block; width: 100%; max-width: 26rem; margin: auto; overflow: visible; }
.soft_lookup svg text { fill: currentColor; font-size: 12.5px; text-anchor: middle; pointer-events: none; }
.soft_lookup .frame { fill: none; stroke: var(--line); }
.soft_lookup .dot { fill: #56b4e9; fill-opacity: 0.65; stroke: currentColor; }
.soft_lookup .asked path, .soft_lookup .answer path { fill: #d55e00; stroke: var(--pst-color-background, white); }
.soft_lookup .handle:focus-visible .reach { stroke: var(--mark); stroke-width: 2; }
.soft_lookup :is(th, td):first-child { text-align: left; }
@media (max-width: 36rem) { .soft_lookup table { font-size: 0.8rem; } }
`;

const clamp = (value, largest) => Math.min(Math.max(value, 0), largest);
const rounded = (value) => Math.round(value / STEP) * STEP;

/** The scores of one query (2) and all keys (S, 2), as `coursekit.kernels` has them. */
function scoresOf(query, keys, kernel, bandwidth) {
  const dot = (a, b) => a[0] * b[0] + a[1] * b[1];
  const length = (a) => Math.sqrt(dot(a, a));
  const score = {
    gaussian: (q, k) => -((q[0] - k[0]) ** 2 + (q[1] - k[1]) ** 2) / (2 * bandwidth ** 2),
    cosine: (q, k) => dot(q, k) / Math.max(length(q) * length(k), 1e-8),
    dot,
    scaled_dot: (q, k) => dot(q, k) / Math.SQRT2,
  }[kernel];
  return keys.map((key) => score(query, key));
}

/** A plane with its axes. */
class Plan {
  constructor({ low, high, across, along }, title) {
    const { width, height, left, top } = SIDE;
    const { size } = Object.assign(this, plane(SIDE, low, high));
    const label = (text, place) => draw("text", place, text);
    const ticks = [];
    for (let n = 0; n <= high[0]; n += 2) ticks.push(label(n, { x: this.x(n), y: height - 21 }));
    for (let n = 0; n <= high[1]; n += 2) ticks.push(label(n, { x: left - 11, y: this.y(n) + 4 }));
    this.svg = draw("svg", { viewBox: `0 0 ${width} ${height}`, role: "group", "aria-label": title },
      draw("rect", { class: "frame", x: left, y: top, width: size[0], height: size[1] }),
      draw("g", { "aria-hidden": "true" }, ...ticks,
        label(across, { x: left + size[0] / 2, y: height - 5 }),
        label(along, { transform: `translate(11 ${top + size[1] / 2}) rotate(-90)` })),
    );
  }

  put(mark, [x, y]) {
    mark.setAttribute("transform", `translate(${this.x(x).toFixed(1)} ${this.y(y).toFixed(1)})`);
  }
}

const DIAMOND = "M0 -9 L9 0 L0 9 L-9 0 Z";
const CROSS = "M-3 -9 H3 V-3 H9 V3 H3 V9 H-3 V3 H-9 V-3 H-3 Z";

export default {
  render({ model, el }) {
    const titles = model.get("titles");
    const values = model.get("values");
    const put = setter(model);
    const fits = (point) => Array.isArray(point) && point.length === 2 && point.every(Number.isFinite);
    const inside = (point) => point.map((value) => clamp(value, 4));
    const start = { query: model.get("query"), books: model.get("books") };
    const middle = [2, 2];
    const query = () => inside(fits(model.get("query")) ? model.get("query") : middle);
    const keys = () => titles.map((_, s) => inside(fits(model.get("books")[s]) ? model.get("books")[s] : middle));
    const kernel = () => (Object.hasOwn(KERNELS, model.get("kernel")) ? model.get("kernel") : "gaussian");
    const bandwidth = () => clamp(Math.max(model.get("bandwidth"), 0.1), 5);
    const { line, say } = status();
    const pair = (point) => point.map((value) => fixed(value, 1)).join(", ");

    // --- What can be moved ---

    const catalogue = new Plan(TOPICS, "The catalogue: the query and the keys of the books");
    const room = new Plan(ROOM, "The room: the books, and the answer");
    const point = (at, move, ...drawn) => movablePoint({
      at, step: STEP, back: catalogue.back, put: (place) => move(inside(place).map(rounded)), end: () => say(summary()),
    }, ...drawn);
    const book = (title, dot) => [dot, draw("text", {}, title)];
    const dots = titles.map(() => [draw("circle", { class: "dot" }), draw("circle", { class: "dot" })]);
    const keyMarks = titles.map((title, s) =>
      point(() => keys()[s], (place) => put({ books: keys().map((key, n) => (n === s ? place : key)) }),
        ...book(title, dots[s][0])));
    const valueMarks = titles.map((title, s) => draw("g", {}, ...book(title, dots[s][1])));
    const asked = point(query, (place) => put({ query: place }), draw("path", { d: DIAMOND }),
      draw("text", { y: -14 }, "query"));
    asked.classList.add("asked");
    const answer = draw("g", { class: "answer" }, draw("path", { d: CROSS }), draw("text", { y: -14 }, "answer"));
    catalogue.svg.append(...keyMarks, asked);
    room.svg.append(...valueMarks, answer);
    const kernels = choice({ name: "Kernel", options: KERNELS, hear: (value) => {
      put({ kernel: value });
      say(summary());
    } });
    const bandwidths = slider({
      name: "Bandwidth h", values: BANDWIDTHS, hear: (value) => put({ bandwidth: value }), settle: () => say(summary()),
    });

    // --- What is seen ---

    const cell = (text) => make("td", {}, text);
    const power = make("span", {}, "e", make("sup", {}, "score − largest"));
    const head = ["book", "score", power, "weight", "weight × along", "weight × across"];
    const body = make("tbody");
    let result = {};
    const summary = () => {
      const best = result.shares.indexOf(Math.max(...result.shares));
      return `The query is at ${pair(query())}. ${titles[best]} has the largest weight, ` +
        `${fixed(result.shares[best], 2)}; the answer is at ${pair(result.place)} metres.`;
    };
    const show = () => {
      const scores = scoresOf(query(), keys(), kernel(), bandwidth());
      const shares = softmax(scores);
      const largest = Math.max(...scores);
      const place = weightedMeans([shares], values)[0];
      result = { shares, place: [...place] };
      kernels.put(kernel());
      bandwidths.put(bandwidth());
      bandwidths.label.style.visibility = kernel() === "gaussian" ? "" : "hidden";
      catalogue.put(asked, query());
      asked.setAttribute("aria-label", `The query at ${pair(query())}; arrow keys move it`);
      room.put(answer, place);
      keys().forEach((key, s) => {
        catalogue.put(keyMarks[s], key);
        room.put(valueMarks[s], values[s]);
        for (const dot of dots[s]) {
          const radius = DOT.least + DOT.more * Math.sqrt(shares[s]);
          dot.setAttribute("r", radius.toFixed(1));
          dot.nextSibling.setAttribute("y", (-4 - radius).toFixed(1));
        }
        keyMarks[s].setAttribute("aria-label", `${titles[s]} at ${pair(key)}, weight ${fixed(shares[s], 2)}; arrow keys move it`);
      });
      body.replaceChildren(
        ...titles.map((title, s) => make("tr", {}, make("th", { scope: "row" }, title),
          cell(fixed(scores[s], 2)), cell(fixed(Math.exp(scores[s] - largest), 3)), cell(fixed(shares[s], 3)),
          cell(fixed(shares[s] * values[s][0], 2)), cell(fixed(shares[s] * values[s][1], 2)))),
        make("tr", { class: "sum" }, make("th", { scope: "row" }, "sum"), cell(""),
          cell(fixed(scores.reduce((sum, score) => sum + Math.exp(score - largest), 0), 3)), cell("1"),
          cell(fixed(place[0], 2)), cell(fixed(place[1], 2))),
      );
    };

    assemble(el, "soft_lookup", MOVING + LOOK,
      make("div", { class: "controls" }, kernels.label, bandwidths.label),
      make("div", { class: "plans" }, catalogue.svg, room.svg),
      make("div", { class: "buttons" }, make("button", { type: "button", onclick: () => {
        put(start);
        say(summary());
      } }, "Put all back")),
      make("table", {},
        make("thead", {}, make("tr", {}, ...head.map((text) => make("th", { scope: "col" }, text)))), body),
      line,
      ...tasks("move the query from the books on language to those on mathematics, and watch the answer cross the room.",
        "put the query exactly on Statistics. Which kernels give another book the largest weight?"),
    );
    show();
    return listen(model, [show, "query", "books", "kernel", "bandwidth"]);
  },
};
