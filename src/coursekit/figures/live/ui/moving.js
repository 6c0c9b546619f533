// Marks of a drawing that a pointer or the arrow keys move, and the plane that they move in.

import { ARROWS, draw, pointIn } from "./controls.js";

export const MOVING = `
.live-box .handle { cursor: grab; touch-action: none; }
.live-box .handle:focus { outline: none; }
.live-box .reach { fill: transparent; }
.live-box .knob { stroke: var(--pst-color-background, white); stroke-width: 2; }
.live-box .handle:focus-visible .knob { stroke: var(--mark); stroke-width: 4; }
`;

/**
 * Let a mark of a drawing be moved. By a pointer: `begin(point)` says what is held, null for nothing,
 * and `drag(point, held)` follows. By arrow keys: `steer(way, event)`. `end()` when it has moved.
 */
export function movable(mark, { begin = () => true, drag, steer, end = () => {} }) {
  let held = null;
  const point = (event) => pointIn(mark.ownerSVGElement ?? mark, event);
  mark.addEventListener("pointerdown", (event) => {
    held = begin(point(event));
    if (held !== null) mark.setPointerCapture(event.pointerId);
  });
  mark.addEventListener("pointermove", (event) => held !== null && drag(point(event), held));
  mark.addEventListener("pointerup", () => {
    if (held !== null) end();
    held = null;
  });
  mark.addEventListener("pointercancel", () => (held = null)); // a finger scrolls the page
  if (steer) mark.addEventListener("keydown", (event) => {
    const way = ARROWS[event.key];
    if (!way) return;
    event.preventDefault();
    steer(way, event);
    end();
  });
  return mark;
}

/** What is drawn of a mark to be moved: room for a finger, and the rest. */
export const handle = (attributes, ...drawn) =>
  draw("g", { class: "handle", tabindex: 0, ...attributes }, draw("circle", { class: "reach", r: 20 }), ...drawn);

/** A part of a drawing as a plane from `low` to `high`: the way there, and back from a point. */
export function plane({ width, height, left, right, top, bottom }, low, high) {
  const size = [width - left - right, height - top - bottom];
  return {
    size,
    x: (value) => left + (size[0] * (value - low[0])) / (high[0] - low[0]),
    y: (value) => top + (size[1] * (high[1] - value)) / (high[1] - low[1]),
    back: ({ x, y }) => [low[0] + ((x - left) / size[0]) * (high[0] - low[0]),
      high[1] - ((y - top) / size[1]) * (high[1] - low[1])],
  };
}

/** A point to be moved: `at()` is where it is in the plane whose way `back` is given; `put` moves it. */
export const movablePoint = ({ at, put, step, back, end }, ...drawn) => movable(
  handle({ role: "button", "aria-roledescription": "point that can be moved" }, ...drawn), {
    drag: (point) => put(back(point)),
    steer: (way, event) => put(at().map((value, n) => value + (event.shiftKey ? 5 : 1) * step * way[n])),
    end,
  });
