// Grey pictures drawn pixel by pixel, and their patches, which can be chosen by hand and by keys.
// Pixels go from −1 (black) to 1 (white), row by row.

import { asBytes } from "./models/safetensors.js";
import { ARROWS, make, oneOf } from "./ui/controls.js";

const SAND = [244, 221, 176]; // of a hidden patch, which no grey picture has

export const PATCHES = `
.live-box .thumbs { display: flex; flex-wrap: wrap; gap: 0.3rem; margin: 0.2rem 0 0.6rem; }
.live-box .thumbs button { background: none; border: 2px solid transparent; border-radius: 0.25rem; cursor: pointer;
  line-height: 0; padding: 1px; }
.live-box .thumbs button[aria-pressed="true"] { border-color: var(--mark); }
.live-box .thumbs canvas { width: 2.2rem; }
.live-box .patches { aspect-ratio: 1; cursor: pointer; display: grid; position: relative; touch-action: pan-y; user-select: none; -webkit-user-select: none; }
.live-box .patches canvas { inset: 0; position: absolute; width: 100%; height: 100%; }
.live-box .patches button { background: transparent; border: 0; cursor: pointer; margin: 0; min-width: 0; padding: 0;
  box-shadow: inset 0 0 0 0.5px #56b4e966; position: relative; touch-action: pan-y; }
.live-box .patches button:hover { box-shadow: inset 0 0 0 2px #56b4e9; }
.live-box .patches button:focus-visible { outline: 3px solid #d55e00; outline-offset: -3px; }
.live-box .patches .asked { box-shadow: inset 0 0 0 3px #56b4e9; }
.live-box .grey { image-rendering: pixelated; }
`;

/** Bytes of a picture, 0 to 255 in base64 -> pixels as a model reads them. */
export const pixelsOf = (text) => Float32Array.from(asBytes(text), (byte) => byte / 127.5 - 1);

/** A canvas for a picture of `side` pixels; `put` draws it, pixels that are NaN in sand. */
export function greyPicture(side, name = "") {
  const canvas = make("canvas", { class: "grey", width: side, height: side, ...(name ? { role: "img" } : { "aria-hidden": "true" }) });
  if (name) canvas.setAttribute("aria-label", name);
  const context = canvas.getContext("2d");
  const put = (pixels) => {
    const image = context.createImageData(side, side);
    pixels.forEach((value, n) => {
      const grey = Math.round((value + 1) * 127.5); // what lies outside is cut
      image.data.set([...(Number.isNaN(value) ? SAND : [grey, grey, grey]), 255], 4 * n);
    });
    context.putImageData(image, 0, 0);
  };
  return { canvas, put };
}

/** Small pictures of which one is chosen. */
export function pictureChoice({ pictures, names, side, choose }) {
  const { group, put: place, fill } = oneOf({ name: "Pictures", choose });
  group.className = "thumbs";
  const items = pictures.map((pixels, n) => {
    const { canvas, put } = greyPicture(side);
    put(pixels);
    return make("button", { type: "button", "aria-label": names[n], title: names[n] }, canvas);
  });
  fill(items);
  const put = (n) => {
    place(n);
    items.forEach((item, k) => item.setAttribute("aria-pressed", k === n));
  };
  return { group, put };
}

/**
 * A picture whose patches, `rows` in a row, can be pressed, and a stroke goes over several. A stroke
 * starts with `begin(n)`; `stroke(n, begun)` is called for each patch it comes to with what `begin`
 * has returned, `end()` when it is over. One stop of the Tab key, arrow keys go from patch to patch.
 */
export function patchGrid({ name, side, rows, begin, stroke, end }) {
  const { canvas, put: drawPixels } = greyPicture(side);
  const cells = Array.from({ length: rows ** 2 }, () => make("button", { type: "button", tabindex: -1 }));
  let at = 0; // the patch that the keyboard is on
  const go = (n) => {
    cells[at].setAttribute("tabindex", -1);
    cells[(at = n)].setAttribute("tabindex", 0);
  };
  go(Math.floor(rows ** 2 / 2));
  let held = null; // the patch that a stroke is on, and what it began with
  const under = ({ clientX, clientY }) => {
    const { left, top, width, height } = group.getBoundingClientRect();
    const [x, y] = [((clientX - left) / width) * rows, ((clientY - top) / height) * rows].map(Math.floor);
    return x >= 0 && y >= 0 && x < rows && y < rows ? y * rows + x : null;
  };
  const reach = (n) => {
    if (n === null || n === held.n) return;
    held.n = n;
    go(n);
    stroke(n, held.begun);
  };
  const over = () => {
    if (held) end();
    held = null;
  };
  const group = make("div", {
    class: "patches", role: "group", "aria-label": name, style: `grid-template-columns: repeat(${rows}, 1fr)`,
    onpointerdown: (event) => {
      const n = under(event);
      if (event.button !== 0 || n === null) return;
      held = { n: null, begun: begin(n) };
      group.setPointerCapture(event.pointerId);
      reach(n);
    },
    onpointermove: (event) => held && reach(under(event)),
    onpointerup: over,
    onpointercancel: over,
    onclick: (event) => { // by a key or a screen reader: a pointer has made a stroke
      const n = cells.indexOf(event.target);
      if (event.detail !== 0 || n < 0) return;
      stroke(n, begin(n));
      end();
    },
    onkeydown: (event) => {
      const way = ARROWS[event.key];
      if (!way) return;
      event.preventDefault();
      const inside = (n) => Math.min(Math.max(n, 0), rows - 1);
      go(inside(Math.floor(at / rows) - way[1]) * rows + inside((at % rows) + way[0]));
      cells[at].focus();
    },
  }, canvas, ...cells);
  /** Draw pixels; of each patch what is said of it, whether it is pressed and its colour, if any. */
  const put = (pixels, patches) => {
    drawPixels(pixels);
    patches.forEach(({ told, pressed, asked = false, colour = "" }, n) => {
      cells[n].setAttribute("aria-label", `row ${Math.floor(n / rows) + 1}, column ${(n % rows) + 1}${told}`);
      cells[n].setAttribute("aria-pressed", pressed);
      cells[n].classList.toggle("asked", asked);
      cells[n].style.backgroundColor = colour;
    });
  };
  return { group, put };
}
