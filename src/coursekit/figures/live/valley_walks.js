// Optimisers in a valley with noisy gradients: the start is moved, the optimiser, its rate and its
// warm-up are set; one walk is kept for comparison. State: curvatures, minimum, draws (number ->
// step -> two normal numbers), optimiser, rate, warmup, beta2, corrected ("yes", "no"), decay, noise,
// draw (its number, from 1), steps, start, kept ("adam 0.2 20 0.999 yes 0.1", or "" for none).

import {
  assemble, button, choice, curveKey, draw, fixed, listen, make, minus, nearest, runner, setter,
  slider, status, tasks,
} from "./ui/controls.js";
import { movablePoint, MOVING, plane } from "./ui/moving.js";

const OPTIMISERS = { sgd: "SGD", momentum: "momentum", adam: "Adam", adamw: "AdamW" };
const USUAL = { sgd: 0.01, momentum: 0.01, adam: 0.2, adamw: 0.2 }; // rates
const SETTINGS = {
  rate: [0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1],
  warmup: [0, 5, 10, 20, 40],
  beta2: [0.9, 0.98, 0.99, 0.999],
  decay: [0, 0.01, 0.1, 0.5, 1],
  noise: [0, 0.5, 1, 2, 5],
};
const MOMENTUM = 0.9; // and Adam's first beta
const EPSILON = 1e-8;
const FAR = 100; // a weight beyond this has left the valley
const LOW = [-4, -2.5];
const HIGH = [4, 3];
const MAP = { width: 340, height: 249, left: 30, right: 6, top: 6, bottom: 34 };
const LENGTHS = { width: 340, height: 150, left: 46, right: 8, top: 8, bottom: 30, least: 0.05, most: 10 };
const SHIFT = 0.1;

const LOOK = `
.valley_walks .plots { display: grid; gap: 0.5rem 0.8rem; grid-template-columns: repeat(auto-fit, minmax(min(17rem, 100%), 1fr)); align-items: center; margin-top: 0.6rem; }
.valley_walks .plots p { text-align: center; margin: 0; }
.valley_walks .plots svg { display: block; width: 100%; max-width: 28rem; margin: 0 auto; }
.valley_walks svg text { fill: currentColor; font-size: 12px; text-anchor: middle; pointer-events: none; }
.valley_walks .frame, .valley_walks .ring { fill: none; stroke: currentColor; stroke-opacity: 0.6; }
.valley_walks .ring { stroke-opacity: 0.3; }
.valley_walks .lowest { fill: none; stroke: currentColor; stroke-width: 2; }
.valley_walks .lowest-name, .valley_walks .handle text { paint-order: stroke; stroke: var(--pst-color-background, white); stroke-width: 3; }
.valley_walks .level { stroke: var(--line); }
.valley_walks path.curve { fill: none; stroke-width: 1.6; stroke-linejoin: round; }
.valley_walks .now path.curve { stroke: var(--mark); }
.valley_walks .now circle { fill: var(--mark); }
.valley_walks .kept path.curve { stroke: #d55e00; stroke-dasharray: 5 3; }
.valley_walks .kept rect { fill: #d55e00; }
.valley_walks .handle .knob { fill: var(--pst-color-background, white); stroke: currentColor; }
.valley_walks .handle:focus-visible .reach { stroke: var(--mark); stroke-width: 2; }
.valley_walks table { table-layout: fixed; }
.valley_walks th[scope="rowgroup"] { border-bottom: 0; padding-top: 0.4rem; text-align: left; }
.valley_walks thead tr:first-child th { border-bottom: 0; }
@media (max-width: 36rem) { .valley_walks table { font-size: 0.8rem; } }
`;

/** The next step of each optimiser, for a weight: (gradient, number of the step, what is set, rate). */
const MAKERS = {
  sgd: () => (gradient, step, { rate }) => -rate * gradient,
  momentum: () => {
    let held = 0;
    return (gradient, step, { rate }) => {
      held = step === 1 ? gradient : MOMENTUM * held + gradient;
      return -rate * held;
    };
  },
  adam: () => {
    let [mean, squares] = [0, 0];
    return (gradient, step, { rate, beta2, corrected }) => {
      mean = MOMENTUM * mean + (1 - MOMENTUM) * gradient;
      squares = beta2 * squares + (1 - beta2) * gradient ** 2;
      const known = corrected ? [1 - MOMENTUM ** step, 1 - beta2 ** step] : [1, 1];
      return (-rate * (mean / known[0])) / (Math.sqrt(squares / known[1]) + EPSILON);
    };
  },
};

/**
 * The places of two weights from `start` on. `walker` has optimiser, rate, warmup, beta2, corrected
 * and decay; `noise` (steps, 2) is added to the gradients of the valley.
 */
export function walk(walker, { curvatures, minimum, start, noise }) {
  const places = [[...start]];
  const next = start.map(MAKERS[walker.optimiser === "adamw" ? "adam" : walker.optimiser]);
  noise.forEach((disturbed, n) => {
    const rate = walker.rate * Math.min(1, (n + 1) / Math.max(walker.warmup, 1));
    const left = walker.optimiser === "adamw" ? 1 - rate * walker.decay : 1;
    places.push(places[n].map((weight, axis) => {
      const gradient = curvatures[axis] * (weight - minimum[axis]) + disturbed[axis];
      return weight * left + next[axis](gradient, n + 1, { ...walker, rate });
    }));
  });
  return places;
}

/** How far each step went, by weight. */
const lengthsOf = (places, axis) => places.slice(1).map((place, n) => Math.abs(place[axis] - places[n][axis]));

const short = (value) => (value >= 1e4 || (value > 0 && value < 9.995e-4)
  ? value.toExponential(0).replace(/e\+?(-?)(\d+)/, (_, sign, power) =>
    `·10${sign ? "⁻" : ""}${[...power].map((n) => "⁰¹²³⁴⁵⁶⁷⁸⁹"[n]).join("")}`)
  : value >= 99.95 ? value.toFixed(0) : value.toPrecision(3));

/** The valley from above. */
class Valley {
  constructor(curvatures, minimum) {
    const { width, height, left, top } = MAP;
    Object.assign(this, plane(MAP, LOW, HIGH));
    const unit = [this.x(1) - this.x(0), this.y(0) - this.y(1)];
    const [cx, cy] = [this.x(minimum[0]), this.y(minimum[1])];
    const rings = [0.5, 1, 2, 4, 8, 16, 28].map((r) => draw("ellipse", {
      class: "ring", cx, cy, rx: r * unit[0], ry: r * unit[1] * Math.sqrt(curvatures[0] / curvatures[1]) }));
    this.walks = draw("g");
    const across = [-4, -2, 0, 2, 4].map((n) => draw("text", { x: this.x(n), y: height - 19 }, minus(n)));
    const along = [-2, 0, 2].map((n) => draw("text", { x: left - 10, y: this.y(n) + 4 }, minus(n)));
    const window = draw("svg", { x: left, y: top, width: this.size[0], height: this.size[1],
      viewBox: `${left} ${top} ${this.size.join(" ")}` }, ...rings, this.walks,
    draw("path", { class: "lowest", d: `M${cx - 6} ${cy}h12M${cx} ${cy - 6}v12` }),
    draw("text", { class: "lowest-name", x: cx, y: cy + 30 }, "minimum"));
    window.style.overflow = "hidden";
    this.svg = draw("svg", { viewBox: `0 0 ${width} ${height}`, role: "group", "aria-label": "The valley from above" },
      window, draw("rect", { class: "frame", x: left, y: top, width: this.size[0], height: this.size[1] }),
      draw("g", { "aria-hidden": "true" }, ...across, ...along,
        draw("text", { x: left + this.size[0] / 2, y: height - 4 }, "first weight, along →   second, across ↑")));
  }

  put(walks) {
    const held = (value) => Math.min(Math.max(value, -1e4), 1e4);
    this.walks.replaceChildren(...walks.map(([kind, places]) => {
      const points = places.map(([x, y]) => [held(this.x(x)), held(this.y(y))].map((one) => one.toFixed(2)));
      const [px, py] = points.at(-1);
      const dots = kind === "now" ? points.map(([cx, cy], n) => draw("circle", { cx, cy, r: n === points.length - 1 ? 4.5 : 1.8 }))
        : [draw("rect", { x: px - 4, y: py - 4, width: 8, height: 8 })];
      return draw("g", { class: kind }, draw("path", { class: "curve", d: `M${points.join("L")}` }), ...dots);
    }));
  }
}

/** The lengths of one weight's steps, on a scale that ends above the longest. */
class Lengths {
  constructor(title, steps) {
    const { width, height, left, right, top, bottom } = LENGTHS;
    const floor = height - bottom;
    this.x = (step) => left + ((width - left - right) * step) / steps;
    this.y = (share) => top + (floor - top) * (1 - Math.min(share, 1));
    this.ends = width - right;
    this.levels = draw("g");
    this.walks = draw("g");
    this.title = title;
    this.svg = draw("svg", { viewBox: `0 0 ${width} ${height}`, role: "img" },
      this.levels, draw("path", { class: "frame", d: `M${left} ${top}V${floor}H${width - right}` }),
      ...[0, 20, 40, 60].map((n) => draw("text", { x: this.x(n), y: floor + 14 }, n)),
      draw("text", { x: this.x(50), y: floor + 14 }, "step"), this.walks);
    this.block = make("div", {}, make("p", {}, title), this.svg);
  }

  put(walks) {
    const longest = Math.max(LENGTHS.least, ...walks.flatMap(([, lengths]) => lengths));
    const top = [0.05, 0.1, 0.2, 0.5, 1, 2, 5].find((one) => one >= longest * 0.98) ?? LENGTHS.most;
    this.levels.replaceChildren(...[0, 0.5, 1].flatMap((share) => [
      draw("path", { class: "level", d: `M${LENGTHS.left} ${this.y(share)}H${this.ends}` }),
      draw("text", { x: LENGTHS.left - 5, y: this.y(share) + 4, style: "text-anchor: end" }, share * top)]));
    this.walks.replaceChildren(...walks.filter(([, lengths]) => lengths.length).map(([kind, lengths]) => {
      const points = lengths.map((length, n) => [this.x(n + 1), this.y(length / top)].map((one) => one.toFixed(2)));
      const marks = points.map(([x, y]) => (kind === "now" ? draw("circle", { cx: x, cy: y, r: 1.9 })
        : draw("rect", { x: x - 1.6, y: y - 1.6, width: 3.2, height: 3.2 })));
      return draw("g", { class: kind }, draw("path", { class: "curve", d: `M${points.join("L")}` }), ...marks);
    }));
  }
}

export default {
  render({ model, el }) {
    const [curvatures, minimum] = ["curvatures", "minimum"].map((name) => model.get(name));
    const draws = model.get("draws").map((draw) => draw.map((pair) => pair.map((one) => one / 1000))); // from thousandths
    const total = draws[0].length;
    const { line, say } = status();
    const put = setter(model);

    // --- What is set; what nobody can read is as at first ---

    const near = (name, value) => nearest(SETTINGS[name], value);
    const whole = (name, low, high) => Math.min(Math.max(Math.round(model.get(name)), low), high);
    const inside = (point) => point.map((value, axis) => Math.round(Math.min(Math.max(value, LOW[axis]), HIGH[axis]) / SHIFT) / 10);
    const start = () => {
      const point = model.get("start");
      return inside(point.length === 2 && point.every(Number.isFinite) ? point : minimum);
    };
    const steps = () => whole("steps", 0, total);
    const drawn = () => whole("draw", 1, draws.length);
    const noise = () => near("noise", model.get("noise"));
    const walker = () => ({
      optimiser: Object.hasOwn(OPTIMISERS, model.get("optimiser")) ? model.get("optimiser") : "adam",
      ...Object.fromEntries(["rate", "warmup", "beta2", "decay"].map((name) => [name, near(name, model.get(name))])),
      corrected: model.get("corrected") !== "no",
    });
    const written = ({ optimiser, rate, warmup, beta2, corrected, decay }) =>
      [optimiser, rate, warmup, beta2, corrected ? "yes" : "no", decay].join(" ");
    const kept = () => {
      const [optimiser, rate, warmup, beta2, corrected, decay] = model.get("kept").split(" ");
      const numbers = Object.entries({ rate, warmup, beta2, decay }).map(([name, text]) => [name, Number(text)]);
      if (!Object.hasOwn(OPTIMISERS, optimiser) || !numbers.every(([name, value]) => SETTINGS[name].includes(value))) return null;
      return { optimiser, ...Object.fromEntries(numbers), corrected: corrected !== "no" };
    };
    const adaptive = ({ optimiser }) => optimiser.startsWith("adam");
    const named = (one) => [
      `${OPTIMISERS[one.optimiser]}, rate ${one.rate}, ${one.warmup ? `warm-up ${one.warmup}` : "no warm-up"}`,
      ...(adaptive(one) ? [`β₂ ${one.beta2}`, ...(one.corrected ? [] : ["no bias correction"])] : []),
      ...(one.optimiser === "adamw" ? [`λ ${one.decay}`] : []),
    ].join(", ");
    const valley = () => {
      const scale = curvatures.map((curvature) => noise() * Math.sqrt(curvature));
      return { curvatures, minimum, start: start(),
        noises: draws.map((draw) => draw.slice(0, steps()).map((pair) => pair.map((one, axis) => one * scale[axis]))) };
    };
    const lossAt = (place) => place.reduce((sum, weight, axis) => sum + (curvatures[axis] * (weight - minimum[axis]) ** 2) / 2, 0);

    // --- What can be moved ---

    const settled = () => say(summary());
    const hear = (name) => (value) => put({ [name]: value });
    const heard = (name) => (value) => {
      put({ [name]: value });
      settled();
    };
    const optimisers = choice({ name: "Optimiser", options: OPTIMISERS, hear: (value) => {
      put({ optimiser: value, rate: USUAL[value] });
      settled();
    } });
    const of = (name, text, show = String) => slider({ name: text, values: SETTINGS[name], show, hear: hear(name), settle: settled });
    const sliders = {
      rate: of("rate", "Rate η"),
      warmup: of("warmup", "Warm-up", (n) => (n ? `${n} steps` : "none")),
      noise: of("noise", "Noise", (n) => (n ? String(n) : "none")),
      beta2: of("beta2", "β₂"),
      decay: of("decay", "Decay λ"),
    };
    const corrections = choice({ name: "Bias correction", options: { yes: "yes", no: "no" }, hear: heard("corrected") });
    const taken = slider({ name: "Steps taken", values: Array.from({ length: total + 1 }, (_, n) => n), hear: hear("steps"), settle: settled });
    const map = new Valley(curvatures, minimum);
    const begin = movablePoint({
      at: start, step: SHIFT, back: map.back, put: (point) => put({ start: inside(point) }), end: settled,
    }, draw("circle", { class: "knob", r: 6 }), draw("text", { y: -12 }, "start"));
    map.svg.append(begin);
    const run = runner({ el, pace: 120, step: () => put({ steps: steps() + 1 }), more: () => steps() < total, done: settled });
    run.button.addEventListener("click", () => !run.running() && steps() === total && put({ steps: 0 }), { capture: true });
    const step = button("Step", () => {
      run.stop();
      put({ steps: steps() < total ? steps() + 1 : 1 });
      settled();
    });
    const atMinimum = button("Start at the minimum", () => {
      put({ start: inside(minimum) });
      settled();
    });
    const other = button("Other noise", () => {
      put({ draw: (drawn() % draws.length) + 1 });
      settled();
    });
    const keep = button("Keep this walk", () => {
      put({ kept: written(walker()) });
      say(`${named(kept())} is kept, as a dashed line.`);
    });
    const remove = button("Remove the kept walk", () => {
      put({ kept: "" });
      settled();
    });

    // --- What is seen ---

    const panels = ["Lengths of the steps along", "Lengths of the steps across"].map((title) => new Lengths(title, total));
    const table = make("table");
    const heads = (scope, colspan, ...texts) => make("tr", {}, ...texts.map((text) => make("th", { scope, colspan }, text)));
    const header = make("thead", {}, heads("colgroup", 2, "steps along", "steps across", "loss"),
      heads("col", 1, "first", "longest", "first", "longest", "this draw", `mean of ${draws.length}`));
    const measured = (one) => {
      const around = valley();
      const walks = around.noises.map((noise) => walk(one, { ...around, noise }));
      const places = walks[drawn() - 1];
      const left = places.findIndex((place) => place.some((weight) => Math.abs(weight) > FAR));
      const losses = walks.map((places) => lossAt(places.at(-1)));
      const lengths = [0, 1].map((axis) => lengthsOf(places, axis));
      return { places, lengths, left, loss: losses[drawn() - 1], mean: losses.reduce((sum, loss) => sum + loss, 0) / losses.length };
    };
    const cells = ({ lengths, loss, mean }) => [...lengths.flatMap((all) => (all.length ? [all[0], Math.max(...all)] : [null, null])), loss, mean]
      .map((value) => (value === null ? "–" : Number.isFinite(value) ? short(value) : "∞"));
    let result = {};
    const summary = () => {
      const { lengths, left, loss } = result;
      if (!steps()) return `${named(walker())}: no step taken. The loss is ${short(loss)}.`;
      const first = lengths.map((all) => short(all[0]));
      return `${named(walker())}, ${steps()} ${steps() === 1 ? "step" : "steps"}. The first is ${first[0]} along and ${first[1]} across. ` +
        (left > 0 ? `Thrown out of the valley by step ${left}.` : `The loss is ${short(loss)}.`);
    };
    const show = () => {
      const now = walker();
      const other = kept();
      result = measured(now);
      const rows = [["now", now, result], ...(other ? [["kept", other, measured(other)]] : [])];
      optimisers.put(now.optimiser);
      for (const name of ["rate", "warmup", "beta2", "decay"]) sliders[name].put(now[name]);
      sliders.noise.put(noise());
      corrections.put(now.corrected ? "yes" : "no");
      taken.put(steps());
      for (const one of [sliders.beta2, corrections]) one.label.style.visibility = adaptive(now) ? "" : "hidden";
      sliders.decay.label.style.visibility = now.optimiser === "adamw" ? "" : "hidden";
      remove.disabled = !other;
      begin.setAttribute("transform", `translate(${map.x(start()[0])} ${map.y(start()[1])})`);
      begin.setAttribute("aria-label", `The start at ${start().map((value) => fixed(value, 1)).join(", ")}; arrow keys move it`);
      const behind = rows.toReversed(); // what is kept is drawn first
      map.put(behind.map(([kind, , { places }]) => [kind, places]));
      panels.forEach((panel, axis) => {
        panel.put(behind.map(([kind, , { lengths }]) => [kind, lengths[axis]]));
        panel.svg.setAttribute("aria-label", `${panel.title}, by step: ${rows.map(([, one]) => named(one)).join("; ")}. The table has the first and the longest.`);
      });
      table.replaceChildren(header, ...rows.map(([kind, one, found]) => make("tbody", {},
        make("tr", {}, make("th", { scope: "rowgroup", colspan: 6 }, curveKey(kind), named(one))),
        make("tr", {}, ...cells(found).map((text) => make("td", {}, text))))));
    };

    assemble(el, "valley_walks", MOVING + LOOK,
      make("div", { class: "controls" }, optimisers.label, sliders.rate.label, sliders.warmup.label, sliders.noise.label,
        taken.label, sliders.beta2.label, corrections.label, sliders.decay.label),
      make("div", { class: "buttons" }, run.button, step, other, atMinimum, keep, remove),
      make("div", { class: "plots" }, map.svg, make("div", {}, ...panels.map(({ block }) => block))),
      table,
      line,
      ...tasks("let it run to the end. From which step on can you not tell which walk had a warm-up? Then drag the start far away: does a warm-up still help?",
        "switch Adam’s bias correction off and look at the first step. At which β₂ is it longer than the rate, at which shorter, and at which equal?"),
    );
    show();
    return listen(model, [show, "optimiser", "rate", "warmup", "beta2", "corrected", "decay", "noise", "draw", "steps", "start", "kept"]);
  },
};
