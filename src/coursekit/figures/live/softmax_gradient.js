// A row of scores to move, what a softmax makes of it at a width and a temperature, and how each
// weight changes with each score. State: start, scores, width, factor, temperature, key, bet (a norm
// of J), shown.

import { softmax } from "./models/layers.js";
import { BETTING, betting } from "./ui/betting.js";
import {
  assemble, button, choice, draw, fixed, listen, make, setter, slider, status, tasks,
} from "./ui/controls.js";
import { handle, movable, MOVING } from "./ui/moving.js";

const WIDTHS = [1, 4, 16, 64, 256, 1024];
const TEMPERATURES = [0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 20];
const FACTORS = { root: "1/√d", none: "none", width: "1/d" };
const MOST = 3; // of a score that can be moved, in standard deviations
const PLAN = { left: 34, column: 58, top: 12, scores: 150, gap: 42, weights: 110 };
const CELL = 52;
const BETS = Array.from({ length: 51 }, (_, n) => n / 100); // no J has a larger norm
const TINY = 0.05; // how far an arrow key moves

const LOOK = `
.softmax_gradient .plans { display: grid; gap: 0.8rem; grid-template-columns: repeat(auto-fit, minmax(17rem, 1fr)); align-items: start; margin-top: 0.6rem; }
.softmax_gradient .plans p { text-align: center; margin: 0 0 0.2rem; }
.softmax_gradient svg { display: block; width: 100%; max-width: 26rem; margin: 0 auto; }
.softmax_gradient svg text { fill: currentColor; font-size: 12px; text-anchor: middle; pointer-events: none; user-select: none; -webkit-user-select: none; }
.softmax_gradient .axis { stroke: var(--line); }
.softmax_gradient .score { fill: #56b4e9; fill-opacity: 0.7; }
.softmax_gradient .weight { fill: #e69f00; fill-opacity: 0.8; }
.softmax_gradient .handle { cursor: ns-resize; }
.softmax_gradient .handle .knob { fill: #0072b2; }
.softmax_gradient .cell rect { stroke: var(--line); }
.softmax_gradient .mark { fill: none; stroke: var(--mark); stroke-width: 3; }
.softmax_gradient .numbers { margin: 0.6rem 0 0; font-variant-numeric: tabular-nums; }
`;

/** Weights (S) -> how weight i changes with score j, (S, S): diag(p) − p pᵀ. */
const jacobian = (p) => p.map((one, i) => p.map((other, j) => one * ((i === j ? 1 : 0) - other)));

/** How undecided a row of weights is, in bits. */
const entropy = (p) => p.reduce((sum, one) => (one > 0 ? sum - one * Math.log2(one) : sum), 0);

const frobenius = (matrix) => Math.sqrt(matrix.flat().reduce((sum, value) => sum + value * value, 0));

/** A number with two digits, and with more where it is small. */
const short = (value) => fixed(value, Math.abs(value) < 0.1 ? 3 : Math.abs(value) < 10 ? 2 : 1);

export default {
  render({ model, el }) {
    const start = model.get("start");
    const S = start.length;
    const put = setter(model);
    const inside = (value) => Math.min(Math.max(value, -MOST), MOST);
    const scores = () => start.map((_, s) => {
      const score = model.get("scores")[s];
      return Number.isFinite(score) ? inside(score) : 0;
    });
    const among = (name, values, other) => (values.includes(model.get(name)) ? model.get(name) : other);
    const width = () => among("width", WIDTHS, 64);
    const temperature = () => among("temperature", TEMPERATURES, 1);
    const factor = () => (Object.hasOwn(FACTORS, model.get("factor")) ? model.get("factor") : "root");
    const key = () => (start[model.get("key")] === undefined ? 0 : model.get("key"));
    const change = (s, value) => put({
      scores: scores().map((was, n) => (n === s ? Math.round(inside(value) / TINY) * TINY : was)), key: s,
    });
    const { line, say } = status();

    // --- What can be set ---

    const settled = () => say(summary());
    const widths = slider({ name: "Width d", values: WIDTHS, show: (value) => value.toLocaleString("en"),
      hear: (value) => put({ width: value }), settle: settled });
    const temperatures = slider({ name: "Temperature τ", values: TEMPERATURES,
      hear: (value) => put({ temperature: value }), settle: settled });
    const factors = choice({ name: "Factor", options: FACTORS, hear: (value) => {
      put({ factor: value });
      settled();
    } });

    const wager = betting({
      model, name: "Your bet on the norm of J at width 1,024, undivided", values: BETS, show: (value) => fixed(value, 2), say,
      action: "Width 1,024, no factor", told: () => `You bet ${fixed(wager.bet(), 2)}; the norm of J is ${fixed(frobenius(now.J), 3)}.`,
      reveal: () => ({ width: 1024, factor: "none" }), hide: () => ({ width: 64, factor: "root" }),
    });

    // --- The scores, to be moved, and the weights below them ---

    const x = (s) => PLAN.left + PLAN.column * (s + 0.5);
    const y = (score) => PLAN.top + (PLAN.scores * (MOST - score)) / (2 * MOST);
    const foot = PLAN.top + PLAN.scores + PLAN.gap + PLAN.weights;
    const right = PLAN.left + PLAN.column * S;
    const axis = (height) => draw("line", { class: "axis", x1: PLAN.left, x2: right, y1: height, y2: height });
    const columns = start.map((_, s) => {
      const bar = draw("rect", { class: "score", x: x(s) - 14, width: 28 });
      const product = draw("text", { x: x(s), y: PLAN.top + PLAN.scores + 24 });
      const weight = draw("rect", { class: "weight", x: x(s) - 14, width: 28 });
      const share = draw("text", { x: x(s), y: foot + 16 });
      const mark = movable(handle({
        role: "slider", "aria-orientation": "vertical",
        "aria-label": `Score of key ${s + 1}`, "aria-valuemin": -MOST, "aria-valuemax": MOST,
        onfocus: () => put({ key: s }),
      }, draw("circle", { class: "knob", r: 8 })), {
        begin: () => put({ key: s }),
        drag: (point) => change(s, MOST - ((point.y - PLAN.top) * 2 * MOST) / PLAN.scores),
        steer: (way, event) => change(s, scores()[s] + (way[0] + way[1]) * (event.shiftKey ? 10 * TINY : TINY)),
        end: settled,
      });
      return { bar, product, weight, share, mark };
    });
    const label = (text, height) => draw("text", { transform: `translate(13 ${height}) rotate(-90)` }, text);
    const drawing = draw("svg", { viewBox: `0 0 ${right + 4} ${foot + 22}`, role: "group", "aria-label": "Five scores that can be moved, and their weights" },
      axis(y(0)), axis(foot), label("q · k", y(0)), label("weight", foot - PLAN.weights / 2),
      ...columns.flatMap(({ bar, product, weight, share }) => [bar, product, weight, share]),
      ...columns.map(({ mark }) => mark));

    // --- The matrix ---

    const cells = start.map((_, i) => start.map((__, j) => {
      const text = draw("text", { x: 26 + CELL * (j + 0.5), y: 20 + CELL * (i + 0.5) + 4 });
      const rect = draw("rect", { x: 26 + CELL * j, y: 20 + CELL * i, width: CELL, height: CELL });
      return { text, rect, mark: draw("g", { class: "cell" }, rect, text) };
    }));
    const column = draw("rect", { class: "mark", y: 20, width: CELL, height: CELL * S });
    const matrix = draw("svg", { viewBox: `0 0 ${28 + CELL * S} ${24 + CELL * S}`, role: "img" },
      ...start.flatMap((_, n) => [
        draw("text", { x: 26 + CELL * (n + 0.5), y: 13 }, n + 1),
        draw("text", { x: 13, y: 20 + CELL * (n + 0.5) + 4 }, n + 1),
      ]),
      ...cells.flat().map(({ mark }) => mark), column);

    // --- What is seen ---

    let now = {};
    const numbers = make("p", { class: "numbers" });
    const summary = () => {
      const j = key();
      const moved = now.J.map((row, i) => `weight ${i + 1} by ${short(row[j])}`);
      return `For each 1 by which the input ${j + 1} of the softmax grows, at first: ${moved.join(", ")}.`;
    };
    const show = () => {
      const [d, tau] = [width(), temperature()];
      const products = scores().map((score) => score * Math.sqrt(d));
      const c = { root: 1 / Math.sqrt(d), none: 1, width: 1 / d }[factor()];
      const inputs = products.map((product) => (product * c) / tau);
      const p = softmax(inputs);
      const J = jacobian(p);
      now = { J };
      widths.put(d);
      temperatures.put(tau);
      factors.put(factor());
      wager.put();
      columns.forEach(({ bar, product, weight, share, mark }, s) => {
        const score = scores()[s];
        bar.setAttribute("y", Math.min(y(score), y(0)).toFixed(1));
        bar.setAttribute("height", Math.abs(y(score) - y(0)).toFixed(1));
        product.textContent = short(products[s]);
        weight.setAttribute("y", (foot - PLAN.weights * p[s]).toFixed(1));
        weight.setAttribute("height", (PLAN.weights * p[s]).toFixed(1));
        share.textContent = fixed(p[s], 3);
        mark.setAttribute("transform", `translate(${x(s)} ${y(score).toFixed(1)})`);
        mark.setAttribute("aria-valuenow", score.toFixed(2));
        mark.setAttribute("aria-valuetext", `dot product ${short(products[s])}, weight ${fixed(p[s], 3)}`);
      });
      cells.forEach((row, i) => row.forEach(({ rect, text }, j) => {
        text.textContent = fixed(J[i][j], 3);
        rect.setAttribute("fill", J[i][j] < 0 ? "#d55e00" : "#56b4e9");
        rect.setAttribute("fill-opacity", Math.min(2.4 * Math.abs(J[i][j]), 0.6).toFixed(3));
      }));
      column.setAttribute("x", 26 + CELL * key());
      const length = fixed(frobenius(J), 3);
      matrix.setAttribute("aria-label", `The matrix J of ${S} weights and ${S} inputs; its norm is ${length}.`);
      numbers.textContent = `Inputs of the softmax: ${inputs.map(short).join(", ")}. Largest weight ` +
        `${fixed(Math.max(...p), 3)}, entropy ${fixed(entropy(p), 2)} bits, norm of J ${length}.`;
    };

    assemble(el, "softmax_gradient", MOVING + BETTING + LOOK,
      make("div", { class: "controls" }, widths.label, factors.label, temperatures.label),
      make("div", { class: "plans" },
        make("div", {}, make("p", {}, "Dot products, and the weights"), drawing),
        make("div", {}, make("p", {}, "J: weights down, inputs across"), matrix)),
      numbers,
      wager.part,
      make("div", { class: "buttons" }, button("Put the scores back", () => {
        put({ scores: start });
        settled();
      })),
      line,
      ...tasks("bet, and see what becomes of J at width 1,024. Then drag the two largest scores until they are equal.",
        "how large can you make the norm of J, and what do the weights look like there?"),
    );
    show();
    return listen(model, [show, "scores", "width", "factor", "temperature", "key", "bet", "shown"]);
  },
};
