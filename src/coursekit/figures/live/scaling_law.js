// Our runs of several sizes, a law through their frontier, and a bet on the largest run before it is
// shown. State: sizes (their names), curves (of each run: number of its size, points of compute and
// loss), taken (numbers of the sizes that the law is fitted to), bet (a loss), shown.

import { BETTING, betting } from "./ui/betting.js";
import {
  assemble, draw, fixed, listen, make, nearest, setter, status, tasks,
} from "./ui/controls.js";
import { handle, movable, MOVING } from "./ui/moving.js";

const PLAN = { left: 40, right: 470, top: 12, foot: 300 };
const LOSSES = { low: 2.5, high: 4.7 };
const BETS = Array.from({ length: 221 }, (_, n) => (250 + n) / 100);
const TINY = 1e-12; // logarithms that differ by less are of equal losses

const LOOK = `
.scaling_law .plans svg { display: block; margin: 0 auto; max-width: 34rem; width: 100%; }
.scaling_law .plans text { fill: currentColor; font-size: 13px; pointer-events: none; }
.scaling_law .grid { stroke: var(--line); stroke-width: 0.7; }
.scaling_law .run { fill: none; stroke: var(--mark); stroke-width: 1.4; }
.scaling_law .run.left { opacity: 0.25; }
.scaling_law .run.last { stroke: #e69f00; stroke-width: 2.2; }
.scaling_law .edge { fill: currentColor; }
.scaling_law .law { fill: none; stroke: #d55e00; stroke-dasharray: 6 4; stroke-width: 2; }
.scaling_law .handle { cursor: ns-resize; }
.scaling_law .handle .knob { fill: #009e73; }
.scaling_law .sizes .chip { margin-right: 0.4rem; min-width: 3.6rem; }
.scaling_law .sizes .chip[aria-pressed="true"] { --share: 25%; }
`;

/** A curve of points [compute, loss] -> the logarithm of the best it has reached at a compute. */
function logLevel(curve, at) {
  if (at < curve[0][0]) return Infinity;
  let best = Infinity;
  const points = curve.map(([x, y]) => [Math.log(x), Math.log((best = Math.min(best, y)))]);
  const w = Math.log(at);
  const right = points.findIndex(([u]) => u > w);
  if (right < 0) return points.at(-1)[1];
  const [[u, v], [next, level]] = [points[right - 1], points[right]];
  return v + ((level - v) * (w - u)) / (next - u);
}

/** Curves -> the points that lie below all other curves, by rising compute. */
export function frontier(curves) {
  const points = curves.flatMap((curve, number) => curve.filter(([x, y], place) => {
    if (curve.slice(0, place).some(([, earlier]) => earlier <= y)) return false;
    return curves.every((other, n) => {
      const above = n === number ? Infinity : logLevel(other, x) - Math.log(y);
      return above > (n > number ? TINY : -TINY);
    });
  }));
  return points.sort((a, b) => a[0] - b[0]);
}

/** Points -> y = factor · x^exponent, by least squares on the logarithms. */
export function powerLaw(points) {
  const [u, v] = [0, 1].map((k) => points.map((point) => Math.log(point[k])));
  const middle = (values) => values.reduce((sum, value) => sum + value, 0) / values.length;
  const [mu, mv] = [middle(u), middle(v)];
  const exponent = u.reduce((sum, one, n) => sum + (one - mu) * (v[n] - mv), 0) / u.reduce((sum, one) => sum + (one - mu) ** 2, 0);
  const factor = Math.exp(mv - exponent * mu);
  return { exponent, factor, at: (x) => factor * x ** exponent };
}

export default {
  render({ model, el }) {
    const [sizes, curves] = [model.get("sizes"), model.get("curves")];
    const last = sizes.length - 1;
    const reached = curves.filter(({ size }) => size === last).map(({ points }) => points.at(-1));
    const dear = reached[0][0];
    const put = setter(model);
    const taken = () => {
      const some = sizes.map((_, n) => n).filter((n) => model.get("taken").includes(n) && (shown() || n < last));
      return some.length > 0 ? some : [0];
    };
    const { line, say } = status();
    const wager = betting({
      model, name: `Your bet on ${sizes[last]}`, values: BETS, show: (loss) => `a loss of ${fixed(loss, 2)}`, say,
      action: "Show the largest run", told: () => summary(), hide: () => ({ taken: sizes.map((_, n) => n).slice(0, last), bet: 3.5 }),
    });
    const { bet, shown } = wager;

    // --- The drawing ---

    const [cheap, most] = [Math.min(...curves.map(({ points }) => points[0][0])), dear];
    const x = (compute) => PLAN.left + ((PLAN.right - PLAN.left) * Math.log(compute / cheap)) / Math.log(most / cheap);
    const y = (loss) => PLAN.foot - ((PLAN.foot - PLAN.top) * Math.log(loss / LOSSES.low)) / Math.log(LOSSES.high / LOSSES.low);
    const path = (points) => `M${points.map(([a, b]) => `${x(a).toFixed(1)} ${y(b).toFixed(1)}`).join("L")}`;
    const grid = [2.5, 3, 3.5, 4, 4.5].flatMap((loss) => [
      draw("line", { class: "grid", x1: PLAN.left, x2: PLAN.right, y1: y(loss), y2: y(loss) }),
      draw("text", { x: PLAN.left - 5, y: y(loss) + 4, "text-anchor": "end" }, loss),
    ]);
    for (let power = Math.ceil(Math.log10(cheap)); 10 ** power <= most; power++) {
      grid.push(draw("line", { class: "grid", x1: x(10 ** power), x2: x(10 ** power), y1: PLAN.top, y2: PLAN.foot }),
        draw("text", { x: x(10 ** power), y: PLAN.foot + 17, "text-anchor": "middle" }, "10", draw("tspan", { dy: -5, "font-size": 10 }, power)));
    }
    const runs = curves.map(({ points }) => draw("path", { class: "run", d: path(points) }));
    const edge = draw("g", { class: "edge" });
    const law = draw("path", { class: "law" });
    const knob = movable(handle({ "aria-hidden": "true", tabindex: -1 }, draw("circle", { class: "knob", r: 8 })), {
      drag: ({ y }) => put({ bet: nearest(BETS, LOSSES.low * (LOSSES.high / LOSSES.low) ** ((PLAN.foot - y) / (PLAN.foot - PLAN.top))) }),
      end: () => say(summary()),
    });
    const drawing = draw("svg", { viewBox: `0 0 ${PLAN.right + 22} ${PLAN.foot + 42}`, role: "group", "aria-label": "Held-out loss over the compute of the training" },
      ...grid, draw("text", { x: (PLAN.left + PLAN.right) / 2, y: PLAN.foot + 37, "text-anchor": "middle" }, "FLOPs of the training"),
      ...runs, edge, law, knob);

    // --- What can be set, and what is said ---

    const chips = make("div", { class: "chips sizes", role: "group", "aria-label": "Sizes that the law is fitted to" },
      ...sizes.map((name, n) => make("button", { type: "button", class: "chip", onclick: () => {
        const now = taken();
        const next = now.includes(n) ? now.filter((one) => one !== n) : [...now, n].sort();
        if (next.length === 0) return say("A law needs one size at least.");
        put({ taken: next });
        say(summary());
      } }, name)));
    const numbers = make("p", {});
    let now = {};
    const off = (guess) => {
      const goal = reached.reduce((sum, [, loss]) => sum + loss, 0) / reached.length;
      return `${fixed((100 * (guess - goal)) / goal, 1)}%`;
    };
    const summary = () => (shown()
      ? `Your bet was ${fixed(bet(), 2)}, off by ${off(bet())}; the law through the sizes chosen says ${fixed(now.law.at(dear), 2)}, ` +
        `off by ${off(now.law.at(dear))}. The runs reached ${reached.map(([, loss]) => fixed(loss, 2)).join(" and ")}.`
      : `You bet that ${sizes[last]} reaches ${fixed(bet(), 2)}.`);
    const show = () => {
      const some = taken();
      const points = frontier(curves.filter(({ size }) => some.includes(size)).map((curve) => curve.points));
      now = { law: powerLaw(points), points };
      curves.forEach(({ size }, n) => {
        const name = size === last ? "run last" : some.includes(size) ? "run" : "run left";
        runs[n].setAttribute("class", name);
        runs[n].setAttribute("visibility", size < last || shown() ? "visible" : "hidden");
      });
      edge.replaceChildren(...points.map(([a, b]) => draw("circle", { cx: x(a).toFixed(1), cy: y(b).toFixed(1), r: 2.6 })));
      law.setAttribute("d", path([cheap, most].map((one) => [one, now.law.at(one)])));
      for (const one of [law, edge]) one.setAttribute("visibility", shown() ? "visible" : "hidden");
      knob.setAttribute("transform", `translate(${x(dear)} ${y(bet()).toFixed(1)})`);
      [...chips.children].forEach((chip, n) => {
        chip.setAttribute("aria-pressed", some.includes(n));
        chip.disabled = !shown() && n === last;
      });
      wager.put();
      numbers.replaceChildren(...(shown()
        ? [`${points.length} points are on the frontier of the sizes chosen: L = ${fixed(now.law.factor, 2)} · C`,
          make("sup", {}, fixed(now.law.exponent, 4)), `. ${summary()}`]
        : [`The runs of ${sizes.slice(0, last).join(", ")} are drawn, blocks × width, two seeds each. ` +
          `Move the green point to the loss that ${sizes[last]} will reach at the right edge. ${summary()}`]));
    };

    assemble(el, "scaling_law", MOVING + BETTING + LOOK,
      make("div", { class: "plans" }, drawing), numbers,
      wager.part,
      make("p", { class: "quiet" }, "The law is fitted to the frontier of these sizes:"), chips, line,
      ...tasks("bet before you look. Then take sizes away, and see how few the law needs to say where the largest run ends.",
        "of all pairs of the smaller sizes, which two predict the largest run worst, and is the loss that they predict too low or too high?"),
    );
    show();
    return listen(model, [show, "taken", "bet", "shown"]);
  },
};
