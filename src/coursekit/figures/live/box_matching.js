// Boxes to move: what one costs for another, written out, and which guess answers for which object.
// State: names, classes, labels, shares, start, objects, guesses, rule, pair.

import { greedy, hungarian } from "./models/assignment.js";
import {
  assemble, button, choice, draw, fixed, listen, make, setter, status, tasks,
} from "./ui/controls.js";
import { movable, MOVING } from "./ui/moving.js";

const MATCHERS = { greedy: "cheapest pair first", hungarian: "smallest sum" };
const PLAN = { width: 340, height: 300 };
const STEP = 0.01;
const LEAST = 0.04; // of a width or a height

const LOOK = `
.box_matching .plans { display: grid; gap: 0.8rem; grid-template-columns: repeat(auto-fit, minmax(17rem, 1fr)); align-items: start; margin-top: 0.6rem; }
.box_matching svg { display: block; width: 100%; max-width: 28rem; margin: 0 auto; }
.box_matching svg text { fill: currentColor; font-size: 12px; pointer-events: none; user-select: none; -webkit-user-select: none; }
.box_matching .frame { fill: none; stroke: var(--line); }
.box_matching .handle:focus-visible :is(rect, circle) { stroke: var(--mark); stroke-width: 4; }
.box_matching .object rect { fill: #56b4e9; fill-opacity: 0.35; stroke: #0072b2; stroke-width: 2; }
.box_matching .guess rect { fill: #e69f00; fill-opacity: 0.12; stroke: #d55e00; stroke-width: 2; stroke-dasharray: 6 3; }
.box_matching .asked rect { stroke-width: 4; }
.box_matching .size { cursor: nwse-resize; }
.box_matching .size .dot { fill: var(--mark); stroke: var(--pst-color-background, white); }
.box_matching .answers { stroke: currentColor; stroke-width: 2; pointer-events: none; }
.box_matching table { margin: 0; }
.box_matching :is(th, td) { border-bottom: 0; padding: 0.1rem; text-align: center; font-size: 0.85rem; }
.box_matching tbody th { text-align: left; }
.box_matching td button { width: 100%; min-height: 2.1rem; font: inherit; font-variant-numeric: tabular-nums; color: inherit;
  background: transparent; border: 1px solid var(--line); border-radius: 0.25rem; padding: 0; cursor: pointer; }
.box_matching td button[aria-pressed="true"] { outline: 2px solid var(--mark); outline-offset: -2px; }
.box_matching td .answer { background: #56b4e955; font-weight: bold; }
.box_matching .sums { margin: 0.5rem 0 0; font-variant-numeric: tabular-nums; }
.box_matching .sums span { display: block; }
.box_matching .written { margin: 0.5rem 0 0; font-variant-numeric: tabular-nums; font-size: 0.9rem; }
.box_matching .written span { display: block; padding-left: 1.2em; text-indent: -1.2em; }
`;

const within = (value, low, high) => Math.min(Math.max(value, low), high);
const hundredths = (value) => Math.round(value / STEP) * STEP;

/** (centre x, centre y, width, height) -> (x1, y1, x2, y2). */
const corners = ([x, y, width, height]) => [x - width / 2, y - height / 2, x + width / 2, y + height / 2];

/** Two boxes by their centres -> the areas and measures that a cost is made of. */
export function compared(a, b) {
  const [one, other] = [corners(a), corners(b)];
  const product = (width, height) => Math.max(width, 0) * Math.max(height, 0);
  const [low, high] = [Math.min, Math.max];
  const across = (inner, outer, axis) => outer(one[axis + 2], other[axis + 2]) - inner(one[axis], other[axis]);
  const both = product(across(high, low, 0), across(high, low, 1));
  const hull = product(across(low, high, 0), across(low, high, 1));
  const either = a[2] * a[3] + b[2] * b[3] - both;
  const parts = a.map((value, n) => Math.abs(b[n] - value));
  const iou = both / either;
  return { parts, l1: parts.reduce((sum, part) => sum + part, 0), both, either, hull, iou, giou: iou - (hull - either) / hull };
}

export default {
  render({ model, el }) {
    const { names, classes, labels, shares } =
      Object.fromEntries(["names", "classes", "labels", "shares"].map((name) => [name, model.get(name)]));
    const start = model.get("start");
    const put = setter(model);
    const inside = ([x, y, width, height]) => {
      const [w, h] = [within(width, LEAST, 1), within(height, LEAST, 1)];
      return [within(x, w / 2, 1 - w / 2), within(y, h / 2, 1 - h / 2), w, h];
    };
    const fits = (box) => Array.isArray(box) && box.length === 4 && box.every(Number.isFinite);
    const boxes = (kind) => names[kind].map((_, n) =>
      inside(fits(model.get(kind)[n]) ? model.get(kind)[n] : [0.5, 0.5, 0.2, 0.2]));
    const rule = () => (Object.hasOwn(MATCHERS, model.get("rule")) ? model.get("rule") : "greedy");
    const pair = () => ["objects", "guesses"].map((kind, n) =>
      (names[kind][model.get("pair")[n]] === undefined ? 0 : model.get("pair")[n]));
    const change = (kind, n, box) => {
      const [i, j] = pair();
      put({ [kind]: boxes(kind).map((one, m) => (m === n ? inside(box.map(hundredths)) : one)),
        pair: kind === "objects" ? [n, j] : [i, n] });
    };
    const { line, say } = status();

    // --- The picture: boxes that can be moved, and a corner that makes one larger ---

    const px = (x) => x * PLAN.width;
    const py = (y) => y * PLAN.height;
    const by = (moved) => (way, event) => {
      const far = event.shiftKey ? 5 * STEP : STEP;
      moved(far * way[0], -far * way[1]);
    };
    const end = () => say(summary());
    const ask = (kind, n) => change(kind, n, boxes(kind)[n]);
    const boxMark = (kind, n) => {
      const mark = draw("g", {
        class: `handle ${kind === "objects" ? "object" : "guess"}`, tabindex: 0, role: "button",
        "aria-roledescription": "box that can be moved", onfocus: () => ask(kind, n),
      }, draw("rect"), draw("text"));
      const box = () => boxes(kind)[n];
      return movable(mark, {
        begin: ({ x, y }) => (ask(kind, n), [box()[0] - x / PLAN.width, box()[1] - y / PLAN.height]),
        drag: ({ x, y }, [dx, dy]) => change(kind, n, [x / PLAN.width + dx, y / PLAN.height + dy, ...box().slice(2)]),
        steer: by((dx, dy) => change(kind, n, [box()[0] + dx, box()[1] + dy, ...box().slice(2)])), end,
      });
    };
    const marks = Object.fromEntries(["objects", "guesses"].map((kind) =>
      [kind, names[kind].map((_, n) => boxMark(kind, n))]));
    const size = draw("g", { class: "handle size", tabindex: 0, role: "button" },
      draw("circle", { class: "reach", r: 14 }), draw("circle", { class: "dot", r: 5 }));
    const sized = () => boxes("guesses")[pair()[1]];
    const resize = (width, height) => {
      const [x, y] = sized();
      const most = (centre) => 2 * Math.min(centre, 1 - centre); // the centre stays
      change("guesses", pair()[1], [x, y, within(width, LEAST, most(x)), within(height, LEAST, most(y))]);
    };
    movable(size, {
      drag: ({ x, y }) => resize(2 * (x / PLAN.width - sized()[0]), 2 * (y / PLAN.height - sized()[1])),
      steer: by((dx, dy) => resize(sized()[2] + dx, sized()[3] + dy)), end,
    });
    const lines = draw("g", { class: "answers" }, ...names.objects.map(() => draw("line")));
    const svg = draw("svg", {
      viewBox: `-2 -2 ${PLAN.width + 4} ${PLAN.height + 4}`, role: "group", "aria-label": "Three objects and five guesses",
    }, draw("rect", { class: "frame", width: PLAN.width, height: PLAN.height }), ...marks.objects, ...marks.guesses, lines, size);

    // --- The costs ---

    const matcher = choice({ name: "Who answers for whom", options: MATCHERS, hear: (value) => {
      put({ rule: value });
      say(summary());
    } });
    const prices = names.objects.map((object, i) => names.guesses.map((guess, j) => button("", () => {
      put({ pair: [i, j] });
      say(summary());
    })));
    const table = make("table", {},
      make("thead", {}, make("tr", {}, make("th", { scope: "col" }, "costs"),
        ...names.guesses.map((name) => make("th", { scope: "col" }, name)))),
      make("tbody", {}, ...prices.map((row, i) => make("tr", {}, make("th", { scope: "row" }, names.objects[i]),
        ...row.map((one) => make("td", {}, one))))));
    const sums = make("p", { class: "sums" });
    const written = make("p", { class: "written" });
    const rows = (texts) => texts.map((text) => make("span", {}, text));
    const two = (value) => fixed(value, 2);
    const signed = (value, digits) => (value < 0 ? `(${fixed(value, digits)})` : fixed(value, digits));

    let cost = [];
    let chosen = {};
    const sumOf = (columns) => columns.reduce((sum, column, row) => sum + cost[row][column], 0);
    const summary = () => {
      const [i, j] = pair();
      const { l1, iou, giou } = compared(boxes("objects")[i], boxes("guesses")[j]);
      const who = chosen[rule()].map((column, row) => `${names.objects[row]} has guess ${column + 1}`).join(", ");
      return `${names.objects[i]} and guess ${j + 1}: L1 ${two(l1)}, IoU ${two(iou)}, GIoU ${two(giou)}. ` +
        `${MATCHERS[rule()]}: ${who}; sum ${two(sumOf(chosen[rule()]))}.`;
    };
    const show = () => {
      const [objects, guesses] = [boxes("objects"), boxes("guesses")];
      const share = (i, j) => shares[j][labels[i]];
      cost = objects.map((object, i) => guesses.map((guess, j) => {
        const { l1, giou } = compared(object, guess);
        return -share(i, j) + 5 * l1 - 2 * giou;
      }));
      chosen = { greedy: greedy(cost), hungarian: hungarian(cost) };
      matcher.put(rule());
      const [i, j] = pair();
      for (const [kind, all] of Object.entries({ objects, guesses })) {
        all.forEach((box, n) => {
          const [x1, y1] = corners(box);
          const [rect, text] = marks[kind][n].children;
          for (const [name, value] of Object.entries({ x: px(x1), y: py(y1), width: px(box[2]), height: py(box[3]) })) {
            rect.setAttribute(name, value.toFixed(1));
          }
          const said = kind === "objects" ? names.objects[n]
            : `${n + 1}: ${classes[shares[n].indexOf(Math.max(...shares[n]))]}`;
          text.textContent = said;
          text.setAttribute("x", (px(x1) + 4).toFixed(1));
          const below = kind === "guesses" ? py(box[3]) - 5 : 13;
          text.setAttribute("y", (py(y1) + below).toFixed(1));
          const asked = n === (kind === "objects" ? i : j);
          marks[kind][n].classList.toggle("asked", asked);
          marks[kind][n].setAttribute("aria-label", `${kind === "objects" ? said : `Guess ${said}`}, centre ` +
            `${two(box[0])}, ${two(box[1])}, size ${two(box[2])}, ${two(box[3])}; arrow keys move it`);
        });
      }
      const [, , right, bottom] = corners(guesses[j]);
      size.setAttribute("transform", `translate(${px(right).toFixed(1)} ${py(bottom).toFixed(1)})`);
      size.setAttribute("aria-label", `Size of guess ${j + 1}: ${two(guesses[j][2])}, ${two(guesses[j][3])}; arrow keys change it`);
      chosen[rule()].forEach((column, row) => {
        const [a, b] = [objects[row], guesses[column]];
        for (const [name, value] of Object.entries({ x1: px(a[0]), y1: py(a[1]), x2: px(b[0]), y2: py(b[1]) })) {
          lines.children[row].setAttribute(name, value.toFixed(1));
        }
      });
      prices.forEach((row, a) => row.forEach((one, b) => {
        one.textContent = two(cost[a][b]);
        one.classList.toggle("answer", chosen[rule()][a] === b);
        one.setAttribute("aria-pressed", a === i && b === j);
        one.setAttribute("aria-label", `${names.objects[a]}, guess ${b + 1}: cost ${two(cost[a][b])}` +
          (chosen[rule()][a] === b ? ", chosen" : ""));
      }));
      sums.replaceChildren(...rows(Object.entries(MATCHERS).map(([key, name]) =>
        `${name}: ${chosen[key].map((column, row) => two(cost[row][column])).join(" + ").replace(/\+ −/g, "− ")} = ${two(sumOf(chosen[key]))}`)));
      const { parts, l1, both, either, hull, iou, giou } = compared(objects[i], guesses[j]);
      written.replaceChildren(make("b", {}, `${names.objects[i]}, guess ${j + 1}`), ...rows([
        `L1 = ${parts.map(two).join(" + ")} = ${two(l1)} (x, y, width, height)`,
        `IoU = shared ${fixed(both, 4)} / covered ${fixed(either, 4)} = ${fixed(iou, 3)}`,
        `GIoU = ${fixed(iou, 3)} − (hull ${fixed(hull, 4)} − ${fixed(either, 4)}) / ${fixed(hull, 4)} = ${fixed(giou, 3)}`,
        `cost = −${two(share(i, j))} + 5 · ${two(l1)} − 2 · ${signed(giou, 3)} = ${two(cost[i][j])}`,
      ]));
    };

    assemble(el, "box_matching", MOVING + LOOK,
      make("div", { class: "plans" }, svg,
        make("div", {}, matcher.label, table, sums, written)),
      make("div", { class: "buttons" }, button("Put all back", () => {
        put({ ...start, pair: [0, 0] });
        say(summary());
      })),
      line,
      ...tasks("move guess 1 to the left until both rules choose the same pairs, and watch what L1, IoU and GIoU say of it on the way.",
        "guess 5 says “nothing”. Move it straight up with the arrow key. From which centre y on does the cheapest pair give it the left cat, and does the smallest sum ever?"),
    );
    show();
    return listen(model, [show, "objects", "guesses", "rule", "pair"]);
  },
};
