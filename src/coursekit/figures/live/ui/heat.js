// Numbers as colours: orange above zero, blue below, the stronger the farther from it.

import { fixed } from "./controls.js";

const ABOVE = [230, 159, 0];
const BELOW = [0, 114, 178];

/** Rows of numbers -> their largest size, of those that are finite. */
export function largest(rows) {
  let most = 0;
  for (const row of rows) for (const value of row) if (Number.isFinite(value)) most = Math.max(most, Math.abs(value));
  return most;
}

/** A colour for a number, in CSS. */
export function colour(value, most) {
  const part = Number.isFinite(value) && most > 0 ? Math.min(Math.abs(value) / most, 1) : 0;
  return `rgb(${(value < 0 ? BELOW : ABOVE).join(" ")} / ${(0.75 * part).toFixed(3)})`;
}

/** Rows of numbers as a picture, a cell for each number; −∞ has no colour. */
export function heat(rows, most = largest(rows)) {
  const [height, width] = [rows.length, rows[0].length];
  const canvas = document.createElement("canvas");
  Object.assign(canvas, { width, height, className: "heat" });
  canvas.setAttribute("aria-hidden", "true");
  const picture = new ImageData(width, height);
  rows.forEach((row, y) => row.forEach((value, x) => {
    const part = Number.isFinite(value) && most > 0 ? Math.min(Math.abs(value) / most, 1) : 0;
    picture.data.set([...(value < 0 ? BELOW : ABOVE), Math.round(255 * part)], 4 * (y * width + x));
  }));
  canvas.getContext("2d").putImageData(picture, 0, 0);
  return canvas;
}

export const HEAT = `
.live-box canvas.heat { display: block; image-rendering: pixelated; width: 100%; }
.live-box .numbers { display: grid; font-size: 0.72rem; font-variant-numeric: tabular-nums; gap: 1px;
  grid-template-columns: repeat(8, 1fr); margin: 0.2rem 0 0.6rem; max-height: 15.5rem; overflow-y: auto; }
.live-box .numbers span { line-height: 1.6; padding: 0 0.2rem; text-align: right; }
`;

/** A vector as a table of its numbers, eight in a row. */
export function numbers(vector, name, most = largest([vector])) {
  const table = document.createElement("div");
  table.className = "numbers";
  table.tabIndex = 0;
  table.setAttribute("role", "group");
  table.setAttribute("aria-label", `${name}: ${vector.length} numbers`);
  for (const value of vector) {
    const cell = document.createElement("span");
    cell.textContent = fixed(value, 2);
    cell.style.background = colour(value, most);
    table.append(cell);
  }
  return table;
}
