// Two places as the hands of clocks: sinusoids, or a query and a key that rotary positions turn. The
// dot product of the two knows only how far apart they are. State: draws (of queries and keys, to
// choose from), kind, i, j, width, draw (which of them), bet (a dot product), shown.

import { BETTING, betting } from "./ui/betting.js";
import {
  assemble, button, choice, draw, fixed, listen, make, minus, pointIn, runner, setter, slider,
  status, tasks,
} from "./ui/controls.js";

const LAST = 127; // the last place
const BASE = 10000;
const WIDTHS = [2, 4, 8, 16];
const KINDS = { sinusoidal: "sinusoidal", rotary: "rotary" };
const BETS = Array.from({ length: 161 }, (_, n) => (n - 80) / 10);
const FAR = 50; // places on, for a bet
const PACE = 120; // milliseconds from place to place
const FACE = 46; // radius of a dial
const CURVE = { width: 380, height: 190, left: 40, right: 10, top: 12, bottom: 38 };

const LOOK = `
.position_clocks .clocks { display: grid; gap: 0.4rem; margin: 0.8rem auto 0.3rem; }
.position_clocks .clock p { text-align: center; margin: 0; font-size: 0.85rem; line-height: 1.35; white-space: nowrap; font-variant-numeric: tabular-nums; }
.position_clocks svg { display: block; width: 100%; margin: 0 auto; overflow: visible; }
.position_clocks svg text { fill: currentColor; font-size: 12px; text-anchor: middle; pointer-events: none; }
.position_clocks .dial { fill: none; stroke: currentColor; stroke-opacity: 0.55; }
.position_clocks .zero { stroke: currentColor; stroke-opacity: 0.55; stroke-width: 2; }
.position_clocks :is(.hand, .arc, .before) { fill: none; stroke-width: 2.5; }
.position_clocks .before { stroke-width: 1.5; stroke-dasharray: 1 3; stroke-linecap: round; }
.position_clocks .arc { stroke-width: 1.5; }
.position_clocks .one { stroke: #0072b2; --own: #0072b2; }
.position_clocks .other { stroke: #d55e00; --own: #d55e00; }
.position_clocks .other .hand { stroke-dasharray: 6 3; }
.position_clocks .tip { cursor: grab; touch-action: none; }
.position_clocks .tip .reach { fill: transparent; stroke: none; }
.position_clocks .tip .mark { fill: var(--own); stroke: var(--pst-color-background, white); stroke-width: 1.5; }
.position_clocks .below { display: grid; gap: 0.6rem 1.2rem; grid-template-columns: repeat(auto-fit, minmax(min(18rem, 100%), 1fr)); align-items: start; margin-top: 0.8rem; }
.position_clocks .below p { text-align: center; margin: 0 0 0.3rem; }
.position_clocks .frame { stroke: var(--line); fill: none; }
.position_clocks .curve { stroke: var(--mark); stroke-width: 1.5; fill: none; }
.position_clocks .now { fill: var(--mark); stroke: var(--pst-color-background, white); stroke-width: 2; }
.position_clocks .stem { stroke: var(--mark); stroke-dasharray: 3 3; }
.position_clocks table { font-size: 0.85rem; margin: 0 auto; max-width: 26rem; }
@media (max-width: 36rem) { .position_clocks .clock p { font-size: 0.78rem; } }
`;

/** A number with three digits, however small it is. */
const short = (value) => minus(Number(value.toPrecision(3)));

/** A pair of numbers, turned counter-clockwise by an angle. */
const turn = ([a, b], angle) => {
  const [sin, cos] = [Math.sin(angle), Math.cos(angle)];
  return [a * cos - b * sin, a * sin + b * cos];
};

/** How far the hand of a pair turns from place to place, in radians. */
const speeds = (width) => Array.from({ length: width / 2 }, (_, n) => BASE ** ((-2 * n) / width));

/** An angle on its way round, between two full turns. */
const round = (angle) => angle % (2 * Math.PI);

/** An arc around the middle from one angle on by another. */
const arc = (from, by, radius) => {
  const steps = Math.max(Math.ceil(Math.abs(by) * 8), 1);
  const points = Array.from({ length: steps + 1 }, (_, n) => {
    const angle = from + (by * n) / steps;
    return `${(radius * Math.cos(angle)).toFixed(1)} ${(-radius * Math.sin(angle)).toFixed(1)}`;
  });
  return `M${points.join("L")}`;
};

export default {
  render({ model, el }) {
    const put = setter(model);
    const inside = (value) => Math.min(Math.max(value, 0), LAST);
    const place = (name) => inside(Math.round(model.get(name)) || 0);
    const width = () => (WIDTHS.includes(model.get("width")) ? model.get("width") : 8);
    const isRotary = () => model.get("kind") === "rotary";
    const drawn = () => (model.get("draws").queries[model.get("draw")] ? model.get("draw") : 0);

    // A sinusoid is a hand that stands upright at place 0 and turns clockwise; rotary turns the
    // pairs of a query and of a key counter-clockwise.
    const pairs = (name) => speeds(width()).map((_, n) => {
      if (!isRotary()) return [0, 1];
      return model.get("draws")[name][drawn()].slice(2 * n, 2 * n + 2);
    });
    const way = () => (isRotary() ? 1 : -1);
    const at = (name, t) => pairs(name).map((pair, n) => turn(pair, way() * speeds(width())[n] * t));
    const products = (one, other) => one.map(([a, b], n) => a * other[n][0] + b * other[n][1]);
    const sum = (values) => values.reduce((total, value) => total + value, 0);
    const distances = Array.from({ length: 2 * LAST + 1 }, (_, n) => n - LAST);
    const scores = () => distances.map((distance) => sum(products(at("queries", distance), pairs("keys"))));

    const { line, say } = status();
    const places = () => `Places ${place("i")} and ${place("j")}, ${Math.abs(place("i") - place("j"))} apart`;
    const summary = () => `${places()}: their dot product is ${fixed(now.total, 2)}.`;
    const settled = () => say(summary());
    let now = {}; // what is seen
    let drawing = ""; // whose curve is drawn
    let most = 1; // its largest value, up or down

    // --- What can be set ---

    const all = Array.from({ length: LAST + 1 }, (_, t) => t);
    const [first, second] = ["i", "j"].map((name) =>
      slider({ name: `Place ${name}`, values: all, hear: (t) => put({ [name]: t }), settle: settled }));
    const kinds = choice({ name: "Positions", options: KINDS, hear: (value) => {
      put({ kind: value });
      settled();
    } });
    const widths = slider({ name: "Width d", values: WIDTHS, hear: (value) => put({ width: value }), settle: settled });
    const shifted = (by) => {
      const [low, high] = [Math.min(place("i"), place("j")), Math.max(place("i"), place("j"))];
      const step = Math.min(Math.max(by, -low), LAST - high);
      return { i: place("i") + step, j: place("j") + step };
    };
    const shift = (by) => put(shifted(by));
    const both = (name, by) => button(name, () => {
      const before = now.total;
      shift(by);
      say(`${places()}: the dot product was ${fixed(before, 2)} and is ${fixed(now.total, 2)}.`);
    });
    const back = both("Both 10 back", -10);
    const ones = both("Both 1 on", 1);
    const tens = both("Both 10 on", 10);
    const walk = runner({ el, pace: PACE, step: () => shift(1), more: () => Math.max(place("i"), place("j")) < LAST,
      done: (count) => say(`Both went ${count} ${count === 1 ? "place" : "places"} on. ${summary()}`) });
    const wager = betting({
      model, name: `Your bet: the dot product when both are ${FAR} places on`, values: BETS, show: (value) => fixed(value, 1), say,
      action: `Both ${FAR} on`, told: () => `You bet ${fixed(wager.bet(), 1)}. ${summary()}`,
      reveal: () => shifted(FAR), hide: () => shifted(-FAR),
    });
    const others = button("Other query and key", () => {
      put({ draw: (drawn() + 1) % model.get("draws").queries.length });
      settled();
    });

    // --- The clocks ---

    let clocks = [];
    let held = null; // a hand that is being turned
    const angleIn = (svg, event) => {
      const { x, y } = pointIn(svg, event);
      return Math.atan2(-y, x);
    };
    const hand = (name, kind) => {
      const line = draw("path", { class: "hand" });
      const before = draw("path", { class: "before" });
      const swept = draw("path", { class: "arc" });
      const mark = name === "i" ? draw("circle", { class: "mark", r: 6 })
        : draw("rect", { class: "mark", x: -5.5, y: -5.5, width: 11, height: 11 });
      const tip = draw("g", { class: `tip ${kind}` }, draw("circle", { class: "reach", r: 20 }), mark);
      return { name, tip, line, before, swept, group: draw("g", { class: kind }, before, swept, line) };
    };
    const made = (n) => {
      const release = () => {
        if (held) settled();
        held = null;
      };
      const svg = draw("svg", { viewBox: "-58 -58 116 116", role: "img",
        onpointerdown: (event) => {
          if (!event.target.closest(".tip")) return;
          const { x, y } = pointIn(svg, event);
          const far = hands.map(({ at: [left, top] }) => Math.hypot(left - x, top - y));
          const { name } = hands[far[0] <= far[1] ? 0 : 1];
          held = { name, t: place(name), angle: angleIn(svg, event) };
          svg.setPointerCapture(event.pointerId);
        },
        onpointermove: (event) => {
          if (!held) return;
          const angle = angleIn(svg, event);
          const gone = angle - held.angle;
          held.angle = angle;
          const shorter = gone - 2 * Math.PI * Math.round(gone / (2 * Math.PI));
          held.t = inside(held.t + (way() * shorter) / speeds(width())[n]);
          put({ [held.name]: Math.round(held.t) });
        },
        onpointerup: release, onpointercancel: release });
      const zero = draw("path", { class: "zero", d: `M0 ${-FACE}V${-FACE + 6}` });
      const hands = [hand("i", "one"), hand("j", "other")];
      svg.append(draw("circle", { class: "dial", r: FACE }), zero, ...hands.map(({ group }) => group),
        hands[1].tip, hands[0].tip);
      const [speed, apart] = [make("span"), make("span")];
      return { svg, zero, hands, speed, apart,
        item: make("div", { class: "clock" }, svg, make("p", {}, speed, make("br"), apart)) };
    };
    const row = make("div", { class: "clocks" });
    const legend = make("p", { class: "quiet" });
    const key = (kind, mark) => draw("svg", { class: `key ${kind}`, viewBox: "0 0 26 12", "aria-hidden": "true" },
      draw("path", { class: "hand", d: "M0 6H18" }), draw("g", { class: "tip", transform: "translate(20 6)" }, mark));
    const keys = [key("one", draw("circle", { class: "mark", r: 5 })),
      key("other", draw("rect", { class: "mark", x: -5, y: -5, width: 10, height: 10 }))];

    // --- The curve, and the sum written out ---

    const x = (distance) => CURVE.left + ((CURVE.width - CURVE.left - CURVE.right) * (distance + LAST)) / (2 * LAST);
    const y = (value, most) => CURVE.top + ((CURVE.height - CURVE.top - CURVE.bottom) * (1 - value / most)) / 2;
    const floor = CURVE.height - CURVE.bottom;
    const curve = draw("polyline", { class: "curve" });
    const stem = draw("path", { class: "stem" });
    const point = draw("circle", { class: "now", r: 6 });
    const levels = [1, 0, -1].map((share) => draw("text", { x: CURVE.left - 19, y: y(share, 1) + 4 }));
    const plot = draw("svg", { viewBox: `0 0 ${CURVE.width} ${CURVE.height}`, role: "img", style: "max-width: 32rem" },
      draw("path", { class: "frame", d: `M${CURVE.left} ${y(0, 1)}H${CURVE.width - CURVE.right}M${x(0)} ${CURVE.top}V${floor}` }),
      ...[-100, -50, 0, 50, 100].map((one) => draw("text", { x: x(one), y: floor + 16 }, minus(one))),
      draw("text", { x: x(0), y: CURVE.height - 5 }, "distance i − j"), ...levels, curve, stem, point);
    const title = make("p");
    const body = make("tbody");
    const head = make("tr");
    const cell = (text) => make("td", {}, text);

    // --- What is seen ---

    const show = () => {
      const [i, j, d] = [place("i"), place("j"), width()];
      const omega = speeds(d);
      const [ends, starts] = [[at("queries", i), at("keys", j)], [pairs("queries"), pairs("keys")]];
      const parts = products(...ends);
      now = { total: sum(parts) };
      first.put(i);
      second.put(j);
      widths.put(d);
      kinds.put(isRotary() ? "rotary" : "sinusoidal");
      wager.put();
      others.hidden = !isRotary();
      back.disabled = Math.min(i, j) === 0;
      ones.disabled = tens.disabled = walk.button.disabled = Math.max(i, j) === LAST;
      const [one, two, dotted] = isRotary()
        ? ["the query at place i", "the key at place j", "; dotted, before the turn"] : ["place i", "place j", ""];
      legend.replaceChildren(keys[0], ` ${one}, `, keys[1], ` ${two}${dotted}. Under each clock its speed ω ` +
        "and the angle ω (i − j). The tips can be dragged.");

      if (clocks.length !== d / 2) {
        clocks = omega.map((_, n) => made(n));
        row.replaceChildren(...clocks.map(({ item }) => item));
        row.style.gridTemplateColumns = `repeat(${Math.min(clocks.length, 4)}, minmax(0, 1fr))`;
        row.style.maxWidth = `${8.5 * Math.min(clocks.length, 4)}rem`;
      }
      const longest = Math.max(...starts.flat().map(([a, b]) => Math.hypot(a, b)));
      const scale = ((isRotary() ? 1 : 0.86) * FACE) / longest;
      clocks.forEach(({ svg, zero, hands, speed, apart }, n) => {
        const turned = omega[n] * (i - j);
        zero.style.display = isRotary() ? "none" : "";
        hands.forEach((hand, h) => {
          const [start, end] = [starts[h][n], ends[h][n]];
          const { tip, line, before, swept } = hand;
          const spot = ([a, b]) => [scale * a, -scale * b].map((value) => value.toFixed(2));
          hand.at = spot(end);
          line.setAttribute("d", `M0 0L${hand.at}`);
          tip.setAttribute("transform", `translate(${hand.at})`);
          before.setAttribute("d", isRotary() ? `M0 0L${spot(start)}` : "");
          const size = scale * Math.hypot(...start) * (h ? 0.5 : 0.6);
          const from = Math.atan2(start[1], start[0]);
          if (isRotary()) swept.setAttribute("d", arc(from, round(omega[n] * [i, j][h]), size));
          else swept.setAttribute("d", h ? "" : arc(from - omega[n] * j, -round(turned), size));
        });
        speed.textContent = `ω = ${short(omega[n])}`;
        apart.textContent = `${short(turned)} rad`;
        svg.setAttribute("aria-label", `Clock ${n + 1} turns by ${short(omega[n])} radians a place; ` +
          `between the two places by ${short(turned)}`);
      });

      const asked = `${isRotary()} ${d} ${drawn()}`;
      if (drawing !== asked) {
        drawing = asked;
        const values = scores();
        most = isRotary() ? Math.max(...values.map(Math.abs)) : d / 2;
        curve.setAttribute("points", values.map((value, n) => `${x(distances[n]).toFixed(1)},${y(value, most).toFixed(2)}`).join(" "));
      }
      point.setAttribute("cx", x(i - j).toFixed(1));
      point.setAttribute("cy", y(now.total, most).toFixed(2));
      stem.setAttribute("d", `M${x(i - j).toFixed(1)} ${floor}V${y(now.total, most).toFixed(2)}`);
      levels.forEach((level, n) => (level.textContent = fixed((1 - n) * most, isRotary() ? 1 : 0)));
      title.textContent = isRotary() ? "Score of the query and the key, by distance" : "Dot product of two places, by distance";
      plot.setAttribute("aria-label", `${title.textContent}: at the distance ${minus(i - j)} it is ${fixed(now.total, 2)}`);
      const written = (pair) => pair.map((value) => fixed(value, 2)).join(", ");
      head.replaceChildren(...["ω", isRotary() ? "query, turned" : "place i", isRotary() ? "key, turned" : "place j", "product"]
        .map((text) => make("th", { scope: "col" }, text)));
      body.replaceChildren(
        ...omega.map((speed, n) => make("tr", {}, make("th", { scope: "row" }, short(speed)),
          cell(written(ends[0][n])), cell(written(ends[1][n])), cell(fixed(parts[n], 2)))),
        make("tr", { class: "sum" }, make("th", { scope: "row" }, "sum"), cell(""), cell(""), cell(fixed(now.total, 2))));
    };

    assemble(el, "position_clocks", BETTING + LOOK,
      make("div", { class: "controls" }, kinds.label, widths.label, first.label, second.label),
      row, legend,
      wager.part,
      make("div", { class: "buttons" }, back, ones, tens, walk.button, others),
      make("div", { class: "below" }, make("div", {}, title, plot),
        make("table", {}, make("thead", {}, head), body)),
      line,
      ...tasks("turn a slow hand a little, and the fast ones spin. Then bet, move both places on, and look at the hands and at the point on the curve. Choose rotary, and bet again.",
        "the dot product of two places is at most half the width. With width 2, which is the first distance above 0 that reaches this, to two digits? How much of it is left at width 4?"),
    );
    const unlisten = listen(model, [show, "kind", "i", "j", "width", "draw", "bet", "shown"]);
    show();
    return () => {
      walk.stop();
      unlisten();
    };
  },
};
