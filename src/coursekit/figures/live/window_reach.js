// What a cell of a map can see through windows that shift in every second block: the cells that it
// has heard of, how much of each, and two rivals, windows that stay and no windows at all. State:
// side, start, cell, blocks, window, shift, maps.

import {
  assemble, button, choice, draw, listen, make, percent, setter, slider, status, tasks,
} from "./ui/controls.js";
import { movable } from "./ui/moving.js";

const MAPS = { one: "no block", merged: "blocks 2, 4 and 6" };
const [BLOCKS, LEAST, MOST] = [8, 2, 8]; // blocks, and the sides of a window
const CELL = 14; // side of a cell of the finest map

const LOOK = `
.live-box.window_reach .plans { align-items: start; display: grid; gap: 0.4rem 1.2rem; grid-template-columns: repeat(auto-fit, minmax(17rem, 1fr)); margin-top: 0.6rem; }
.live-box.window_reach svg { cursor: pointer; display: block; margin: auto; max-width: 27rem; touch-action: pan-y; user-select: none; -webkit-user-select: none; width: 100%; }
.live-box.window_reach .map rect { fill: #0072b2; }
html[data-theme="dark"] .live-box.window_reach .map rect { fill: #56b4e9; }
.live-box.window_reach path { fill: none; stroke: currentColor; pointer-events: none; }
.live-box.window_reach .cells { stroke-opacity: 0.15; }
.live-box.window_reach .before { stroke-dasharray: 3 3; stroke-opacity: 0.6; }
.live-box.window_reach .last { stroke-width: 2; }
.live-box.window_reach .looks { fill: none; stroke: #d55e00; stroke-width: 4; pointer-events: none; }
.live-box.window_reach .asked rect { fill: #d55e00; stroke: var(--pst-color-background, white); }
.live-box.window_reach .asked:focus { outline: none; }
.live-box.window_reach .asked:focus-visible rect { stroke: currentColor; stroke-width: 3; }
.live-box.window_reach table { font-size: 0.85rem; margin: 0; }
.live-box.window_reach caption { caption-side: top; color: inherit; padding: 0 0 0.2rem; text-align: left; }
.live-box.window_reach thead th { vertical-align: bottom; }
.live-box.window_reach .now :is(th, td) { background: color-mix(in srgb, var(--mark) 18%, transparent); font-weight: bold; }
`;

const numbers = (count, first = 0) => Array.from({ length: count }, (_, n) => first + n);
const total = (parts) => parts.reduce((a, b) => a + b, 0);
const stageOf = (block, maps) => (maps === "merged" ? Math.floor((block - 1) / 2) : 0);

/** The side and the shift of a block's windows: a map with room for one window has just that one. */
function windowsIn(side, block, { window, shift }) {
  return side <= window ? [side, 0] : [window, block % 2 ? 0 : shift];
}

/** Which window each place along one side of a map is in, filled up to whole windows. */
function homes(side, block, set) {
  const [window, shift] = windowsIn(side, block, set);
  const filled = Math.ceil(side / window) * window;
  return numbers(filled).map((n) => Math.floor((n - shift) / window));
}

/**
 * How much of each place along one side reaches the place `at` of the last block, if all weights are
 * equal. A window is a span of rows and of columns, so a map's shares are products of two of these.
 */
function sharesAlong(side, at, blocks, set) {
  const stage = stageOf(blocks, set.maps);
  let shares = numbers(side >> stage).map((n) => Number(n === at >> stage));
  for (let block = blocks; block > 0; block--) { // from what the last block looks at to the input
    const home = homes(shares.length, block, set);
    const heard = shares.map(() => 0);
    shares.forEach((share, place) => {
      const mates = numbers(home.length).filter((n) => home[n] === home[place]);
      for (const mate of mates) if (mate < heard.length) heard[mate] += share / mates.length;
    });
    shares = heard;
    if (block > 1 && stageOf(block, set.maps) > stageOf(block - 1, set.maps)) {
      shares = shares.flatMap((share) => [share / 2, share / 2]); // a cell is made of two by two
    }
  }
  return shares;
}

export default {
  render({ model, el }) {
    const side = model.get("side");
    const put = setter(model);
    const inside = (value, least, most) => Math.min(Math.max(Math.round(value) || 0, least), most);
    const asked = () => {
      const window = inside(model.get("window"), LEAST, MOST);
      return {
        window,
        shift: inside(model.get("shift"), 0, window - 1),
        blocks: inside(model.get("blocks"), 1, BLOCKS),
        maps: Object.hasOwn(MAPS, model.get("maps")) ? model.get("maps") : "one",
        cell: [0, 1].map((n) => inside(model.get("cell")[n], 0, side - 1)),
      };
    };
    const { line, say } = status();

    // --- What can be set ---

    const slide = (key, name, values, change = (value) => ({ [key]: value })) =>
      slider({ name, values, hear: (value) => put(change(value)), settle: () => say(summary()) });
    const controls = {
      blocks: slide("blocks", "Blocks", numbers(BLOCKS, 1)),
      shift: slide("shift", "Shift", numbers(MOST), (value) => ({ shift: Math.min(value, asked().window - 1) })),
      window: slide("window", "Side of a window", numbers(MOST - LEAST + 1, LEAST),
        (window) => ({ window, shift: Math.floor(window / 2) })),
      maps: choice({ name: "Merge after", options: MAPS, hear: (maps) => {
        put({ maps });
        say(summary());
      } }),
    };

    // --- The map ---

    const cells = numbers(side).map((r) => numbers(side).map((c) =>
      draw("rect", { x: c * CELL, y: r * CELL, width: CELL, height: CELL })));
    const [fine, before, last] = ["cells", "before", "last"].map((name) => draw("path", { class: name }));
    const looks = draw("rect", { class: "looks" });
    const spot = draw("rect");
    const marked = draw("g", { class: "asked", role: "button", tabindex: 0 }, spot);
    const go = (r, c) => {
      put({ cell: [inside(r, 0, side - 1), inside(c, 0, side - 1)] });
      say(summary());
    };
    const map = draw("svg", {
      viewBox: `-2 -2 ${side * CELL + 4} ${side * CELL + 4}`, role: "group", "aria-label": "The map of cells",
    }, draw("g", { class: "map" }, ...cells.flat()), fine, before, last, looks, marked);
    const drag = ({ x, y }) => go(Math.floor(y / CELL), Math.floor(x / CELL));
    movable(map, { begin: drag, drag, steer: (way) => {
      const [r, c] = asked().cell;
      go(r - way[1], c + way[0]);
    } });
    const ruled = (places) => places.map((n) => `M0 ${n * CELL}H${side * CELL}M${n * CELL} 0V${side * CELL}`).join("");
    const borders = (block, now) => {
      if (block < 1) return "";
      const step = 2 ** stageOf(block, now.maps);
      const home = homes(side / step, block, now).slice(0, side / step);
      return ruled([0, ...home.flatMap((one, n) => (n && one !== home[n - 1] ? [n * step] : [])), side]);
    };
    /** Where along one side the window lies that a place looks at in the last block. */
    const span = (at, now) => {
      const step = 2 ** stageOf(now.blocks, now.maps);
      const home = homes(side / step, now.blocks, now).slice(0, side / step);
      const mates = numbers(home.length).filter((n) => home[n] === home[Math.floor(at / step)]);
      return [mates[0] * step * CELL, mates.length * step * CELL];
    };

    // --- What is seen ---

    const count = (now, blocks, shift) => now.cell.reduce((product, at) =>
      product * sharesAlong(side, at, blocks, { ...now, shift }).filter(Boolean).length, 1);
    const name = (now) => `row ${now.cell[0] + 1}, column ${now.cell[1] + 1}`;
    /** How much comes from cells that are not in the cell's window of the first block. */
    const beyond = (now, along) => {
      const own = along.map((shares, n) => {
        const home = homes(side, 1, now);
        return total(shares.filter((_, place) => home[place] === home[now.cell[n]]));
      });
      return Math.max(total(along[0]) * total(along[1]) - own[0] * own[1], 0);
    };
    const along = (now) => now.cell.map((at) => sharesAlong(side, at, now.blocks, now));
    const many = (n, word) => `${n} ${word}${n === 1 ? "" : "s"}`;
    const summary = () => {
      const now = asked();
      return `After ${many(now.blocks, "block")} the cell in ${name(now)} has heard of ${count(now, now.blocks, now.shift)} ` +
        `of ${side ** 2} cells, with windows that stay of ${count(now, now.blocks, 0)}.`;
    };
    const body = make("tbody");
    const moved = make("th", { scope: "col" });
    const outside = make("p", { class: "outside" });
    const pairs = make("p", { class: "pairs" });
    const show = () => {
      const now = asked();
      for (const key of Object.keys(controls)) controls[key].put(now[key]);
      const [rows, columns] = along(now);
      const most = Math.max(...rows) * Math.max(...columns);
      cells.forEach((row, r) => row.forEach((cell, c) => {
        const share = rows[r] * columns[c];
        cell.setAttribute("fill-opacity", share ? (0.2 + 0.7 * (share / most) ** 0.25).toFixed(3) : 0);
      }));
      const step = 2 ** stageOf(now.blocks, now.maps);
      fine.setAttribute("d", ruled(numbers(side / step + 1).map((n) => n * step)));
      before.setAttribute("d", borders(now.blocks - 1, now));
      last.setAttribute("d", borders(now.blocks, now));
      const [[y, height], [x, width]] = now.cell.map((at) => span(at, now));
      for (const [key, value] of Object.entries({ x, y, width, height })) looks.setAttribute(key, value);
      const [top, left] = now.cell.map((at) => Math.floor(at / step) * step * CELL);
      for (const [key, value] of Object.entries({ x: left, y: top, width: step * CELL, height: step * CELL })) spot.setAttribute(key, value);
      marked.setAttribute("aria-label", `The cell in ${name(now)}; arrow keys move it`);
      moved.textContent = `shifted by ${now.shift}`;
      body.replaceChildren(...numbers(BLOCKS, 1).map((blocks) =>
        make("tr", blocks === now.blocks ? { class: "now", "aria-current": "true" } : {}, make("th", { scope: "row" }, blocks),
          ...[count(now, blocks, now.shift), count(now, blocks, 0), side ** 2].map((n) => make("td", {}, n)))));
      outside.textContent = `With equal weights ${percent(beyond(now, [rows, columns]))} of what it hears comes from beyond its first window.`;
      const size = side / step;
      const [window] = windowsIn(size, now.blocks, now);
      const compared = Math.ceil(size / window) ** 2 * window ** 4;
      pairs.textContent = `Block ${now.blocks} compares ${compared.toLocaleString("en")} pairs of cells; ` +
        (window === size ? "it has one window." : `without windows, ${(size ** 4).toLocaleString("en")}.`);
    };

    assemble(el, "window_reach", LOOK,
      make("div", { class: "controls" }, ...Object.values(controls).map(({ label }) => label)),
      make("div", { class: "plans" }, map,
        make("div", {},
          make("table", {},
            make("caption", {}, `Of how many cells it has heard (all: ${side ** 2})`),
            make("thead", {}, make("tr", {}, make("th", { scope: "col" }, "blocks"), moved,
              ...["windows stay", "no windows (ViT)"].map((text) => make("th", { scope: "col" }, text)))),
            body),
          outside, pairs)),
      make("div", { class: "buttons" }, button("Put all back", () => {
        put(model.get("start"));
        say(summary());
      })),
      line,
      ...tasks("set the shift to 0 and add blocks: nothing changes. Bring the shift back, press a corner of the map, and merge.",
        "put all back. With every shift from 1 to 5 the cell has heard of equally many cells. With which does most of it come from beyond its first window?"),
    );
    show();
    return listen(model, [show, ...Object.keys(controls), "cell"]);
  },
};
