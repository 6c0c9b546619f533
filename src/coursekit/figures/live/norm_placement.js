// Gradients of a fresh stack by layer, and the size of the tokens on its residual stream, at a placement of
// the norm and a depth; another setting can be kept beside it. State: measured (placement -> depth ->
// W1, W2, size), placement, depth, matrix, kept ("post 12", or "" for none).

import {
  assemble, button, choice, curveKey, draw, listen, make, setter, slider, status, tasks,
} from "./ui/controls.js";

const PLACEMENTS = { post: "Post-LN", pre: "Pre-LN", normformer: "NormFormer", dlcl: "DLCL", none: "no norm" };
const MATRICES = { W2: "W₂, the second", W1: "W₁, the first" };
const ROUNDED = 0.02; // how far a curve may go below the scale, in powers of ten
const PLOT = { width: 340, height: 232, left: 46, right: 10, top: 10, bottom: 38 };

const LOOK = `
.norm_placement .plots { display: grid; gap: 0.6rem; grid-template-columns: repeat(auto-fit, minmax(min(18rem, 100%), 1fr)); margin-top: 0.7rem; }
.norm_placement .plots p { text-align: center; margin: 0; }
.norm_placement svg { display: block; width: 100%; max-width: 28rem; margin: 0 auto; }
.norm_placement svg text { fill: currentColor; font-size: 12px; text-anchor: middle; }
.norm_placement .frame { fill: none; stroke: currentColor; stroke-opacity: 0.6; }
.norm_placement .level { stroke: var(--line); }
.norm_placement path.curve { fill: none; stroke-width: 2; }
.norm_placement .now path.curve, .norm_placement .now circle { stroke: var(--mark); }
.norm_placement .now circle { fill: var(--mark); }
.norm_placement .kept path.curve { stroke: #d55e00; stroke-dasharray: 6 4; }
.norm_placement .kept rect { fill: #d55e00; }
.norm_placement td { white-space: nowrap; }
.norm_placement :is(th, td):first-child { text-align: left; }
@media (max-width: 36rem) { .norm_placement table { font-size: 0.8rem; } }
`;

/** A power of ten. */
const ten = (n) => `10${[...String(n)].map((sign) => (sign === "-" ? "⁻" : "⁰¹²³⁴⁵⁶⁷⁸⁹"[sign])).join("")}`;

/** A number with three digits; with two and a power of ten if it is large or small. */
const short = (value) => {
  if (value >= 1e-3 && value < 999.5) return value.toPrecision(3);
  const [digits, power] = value.toExponential(1).split("e");
  return `${digits}·${ten(Number(power))}`;
};

/** Two curves over the layers, on a scale of powers of ten. */
class Plot {
  constructor(title, deepest) {
    this.deepest = deepest;
    this.levels = draw("g");
    this.curves = draw("g");
    this.svg = draw("svg", { viewBox: `0 0 ${PLOT.width} ${PLOT.height}`, role: "img" },
      this.levels, draw("path", { class: "frame", d: `M${PLOT.left} ${PLOT.top}V${this.floor}H${PLOT.width - PLOT.right}` }),
      ...[0, 8, 16, 24, 32].map((layer) => draw("text", { x: this.x(layer), y: this.floor + 16 }, layer)),
      draw("text", { x: (PLOT.left + PLOT.width) / 2, y: PLOT.height - 5 }, "layer"), this.curves);
    this.title = make("p", {}, title);
    this.block = make("div", {}, this.title, this.svg);
  }

  get floor() {
    return PLOT.height - PLOT.bottom;
  }

  x(layer) {
    return PLOT.left + 8 + ((PLOT.width - PLOT.left - PLOT.right - 14) * layer) / this.deepest;
  }

  /** `curves` are [kind, values]; the scale goes at least from `low` to `high`, powers of ten. */
  put(curves, low, high) {
    const logs = curves.flatMap(([, values]) => values.map(Math.log10));
    const bottom = Math.min(low, ...logs.map((log) => Math.floor(log + ROUNDED)));
    const top = Math.max(high, ...logs.map(Math.ceil));
    const y = (log) => PLOT.top + ((this.floor - PLOT.top) * (top - log)) / (top - bottom);
    const step = Math.ceil((top - bottom) / 6);
    const levels = [];
    for (let n = bottom; n <= top; n += step) {
      levels.push(draw("path", { class: "level", d: `M${PLOT.left} ${y(n)}H${PLOT.width - PLOT.right}` }),
        draw("text", { x: PLOT.left - 5, y: y(n) + 4, style: "text-anchor: end" }, Math.abs(n) > 3 ? ten(n) : String(10 ** n)));
    }
    this.levels.replaceChildren(...levels);
    this.curves.replaceChildren(...curves.map(([kind, values, first]) => {
      const points = values.map((value, n) => [this.x(n + first), y(Math.log10(value))].map((one) => one.toFixed(2)));
      const marks = points.map(([px, py]) => (kind === "now" ? draw("circle", { cx: px, cy: py, r: 3 })
        : draw("rect", { x: px - 3, y: py - 3, width: 6, height: 6 })));
      return draw("g", { class: kind }, draw("path", { class: "curve", d: `M${points.join("L")}` }), ...marks);
    }));
  }
}

export default {
  render({ model, el }) {
    const measured = model.get("measured");
    const depths = Object.keys(measured.pre).map(Number);
    const put = setter(model);
    const { line, say } = status();
    const known = (placement, depth) => Object.hasOwn(PLACEMENTS, placement) && depths.includes(depth);
    const placement = () => (Object.hasOwn(PLACEMENTS, model.get("placement")) ? model.get("placement") : "pre");
    const depth = () => (depths.includes(model.get("depth")) ? model.get("depth") : 12);
    const matrix = () => (Object.hasOwn(MATRICES, model.get("matrix")) ? model.get("matrix") : "W2");
    const kept = () => {
      const [name, layers] = model.get("kept").split(" ");
      return known(name, Number(layers)) ? [name, Number(layers)] : null;
    };
    const named = ([name, layers]) => `${PLACEMENTS[name]}, ${layers} layers`;
    const at = ([name, layers]) => measured[name][layers];

    // --- What can be set ---

    const settled = () => say(summary());
    const hear = (name) => (value) => {
      put({ [name]: value });
      settled();
    };
    const placements = choice({ name: "Placement of the norm", options: PLACEMENTS, hear: hear("placement") });
    const layers = slider({ name: "Layers", values: depths, hear: (value) => put({ depth: value }), settle: settled });
    const matrices = choice({ name: "Matrix of each layer", options: MATRICES, hear: hear("matrix") });
    const keep = button("Keep this curve", () => {
      put({ kept: `${placement()} ${depth()}` });
      say(`${named(kept())} is kept, as a broken line.`);
    });
    const remove = button("Remove the kept curve", () => {
      put({ kept: "" });
      settled();
    });

    // --- What is seen ---

    const gradients = new Plot("", depths.at(-1));
    const sizes = new Plot("Size of the tokens on the residual stream", depths.at(-1));
    const body = make("tbody");
    const numbers = (setting) => {
      const [values, size] = [at(setting)[matrix()], at(setting).size];
      return [values[0], values.at(-1), values.at(-1) / values[0], size.at(-1)].map(short);
    };
    const summary = () => {
      const [first, last, ratio, size] = numbers([placement(), depth()]);
      return `${named([placement(), depth()])}: the gradient of ${MATRICES[matrix()].slice(0, 2)} is ${first} in the first layer ` +
        `and ${last} in the last, ${ratio} times as large. The tokens end with the size ${size}.`;
    };
    const show = () => {
      const settings = [["now", [placement(), depth()]], ...(kept() ? [["kept", kept()]] : [])];
      placements.put(placement());
      layers.put(depth());
      matrices.put(matrix());
      remove.disabled = !kept();
      const behind = settings.toReversed(); // what is kept is drawn first
      gradients.title.textContent = `Gradient norm of ${MATRICES[matrix()].slice(0, 2)}`;
      gradients.put(behind.map(([kind, setting]) => [kind, at(setting)[matrix()], 1]), -2, 1);
      sizes.put(behind.map(([kind, setting]) => [kind, at(setting).size, 0]), 0, 1);
      for (const plot of [gradients, sizes]) plot.svg.setAttribute("aria-label",
        `${plot.title.textContent}, by layer: ${settings.map(([, setting]) => named(setting)).join("; ")}. The table has both ends.`);
      body.replaceChildren(...settings.map(([kind, setting]) => make("tr", {},
        make("th", { scope: "row" }, curveKey(kind), named(setting)), ...numbers(setting).map((text) => make("td", {}, text)))));
    };

    assemble(el, "norm_placement", LOOK,
      make("div", { class: "controls" }, placements.label, layers.label, matrices.label),
      make("div", { class: "plots" }, gradients.block, sizes.block),
      make("table", {}, make("thead", {}, make("tr", {},
        ...["stack", "first layer", "last layer", "last / first", "size at the end"].map((text) => make("th", { scope: "col" }, text)))), body),
      make("div", { class: "buttons" }, keep, remove),
      line,
      ...tasks("move the depth of Pre-LN from 2 layers to 32. What grows on the right where the gradient shrinks on the left? Then choose no norm at all.",
        "from 2 layers to 32, the gradient of W₂ in the last layer changes by some factor. Which placement loses most of it, and how much?"),
    );
    show();
    return listen(model, [show, "placement", "depth", "matrix", "kept"]);
  },
};
