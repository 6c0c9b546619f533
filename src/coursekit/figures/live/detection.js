// Emoji to put on a photograph, and what the course's detector finds there. State: emoji and photos
// (bytes by name), items ([kind, left, top, longest], pixels), start, twelve (items), photo, from
// (least share in percent of a box that is shown), chosen (item), query (whose look is shown, from
// 0 as everywhere; −1: none), weights.

import { composed, overlap, sprite } from "./emoji_scene.js";
import { Detector } from "./models/detector.js";
import { softmax } from "./models/layers.js";
import { asBytes, Weights } from "./models/safetensors.js";
import {
  ARROWS, assemble, button, choice, draw, fixed, listen, make, percent, pointIn, setter, slider,
  status, tasks,
} from "./ui/controls.js";

const SIDE = 64;
const [SMALLEST, LARGEST] = [8, 24]; // as in the training
const MOST = 12; // emoji: as many as there are queries
const RIGHT = 0.5; // overlap

const LOOK = `
.detection .panels { align-items: start; display: grid; gap: 0.6rem 1.2rem; grid-template-columns: 3fr 2fr; }
.detection .stage { position: relative; }
.detection .stage canvas { display: block; image-rendering: pixelated; width: 100%; }
.detection .stage svg { inset: 0; position: absolute; width: 100%; height: 100%; }
.detection .item { cursor: grab; fill: transparent; touch-action: none; }
.detection .item:focus { outline: none; }
.detection .item:focus-visible, .detection .item.at { stroke: white; stroke-dasharray: 3 3; stroke-width: 1.5; vector-effect: non-scaling-stroke; }
.detection .item:focus-visible { stroke: #56b4e9; stroke-width: 3; }
.detection .box { pointer-events: none; }
.detection .box rect { fill: none; stroke: #e69f00; stroke-width: 2; vector-effect: non-scaling-stroke; }
.detection .box.wrong rect { stroke-dasharray: 5 3; }
.detection .box text { fill: #ffc94d; font-size: 2.7px; font-weight: bold; paint-order: stroke; stroke: black; stroke-width: 0.7px; }
.detection .looks rect { fill: #009e73; pointer-events: none; }
.detection .palette { display: grid; gap: 0.25rem; grid-template-columns: repeat(6, 1fr); margin: 0.2rem 0 0.5rem; }
.detection .palette button { background: none; border: 1px solid var(--line); border-radius: 0.3rem; cursor: pointer; line-height: 0; min-height: 2.2rem; padding: 0.1rem; }
.detection .palette canvas { height: 1.7rem; width: 1.7rem; }
.detection .panels label { margin-top: 0.35rem; }
.detection .found { list-style: none; margin: 0.3rem 0; min-height: 11.6rem; padding: 0; }
.detection .found button { align-items: center; background: none; border: 0; border-top: 1px solid var(--line); color: inherit; cursor: pointer; display: grid;
  font: inherit; font-size: 0.9rem; font-variant-numeric: tabular-nums; gap: 0.6rem; grid-template-columns: 5.5rem 4rem 5.5rem 1fr; min-height: 1.9rem; padding: 0; text-align: left; width: 100%; }
.detection .found button[aria-pressed="true"] { font-weight: bold; }
@media (max-width: 36rem) {
  .detection .panels { grid-template-columns: 1fr; }
  .detection .found button { gap: 0.4rem; grid-template-columns: 4.6rem 3.2rem 4.4rem 1fr; }
}
`;

export default {
  render({ model, el }) {
    const detector = new Detector(Weights.read(model.get("weights")));
    const bytesOf = (all) => Object.fromEntries(Object.entries(all).map(([name, text]) => [name, asBytes(text)]));
    const [drawings, photos] = [bytesOf(model.get("emoji")), bytesOf(model.get("photos"))];
    const kinds = Object.keys(drawings);
    const put = setter(model);
    const within = (value, low, high) => Math.min(Math.max(Math.round(value), low), high);
    const sprites = new Map();
    const spriteOf = (kind, longest) => {
      const key = `${kind} ${longest}`;
      if (!sprites.has(key)) sprites.set(key, sprite(drawings[kind], longest));
      return sprites.get(key);
    };
    const fits = (item) => Array.isArray(item) && kinds.includes(item[0]) && item.slice(1, 4).every(Number.isFinite) && item.length === 4;
    const inside = ([kind, left, top, longest]) => {
      const size = within(longest, SMALLEST, LARGEST);
      const { width, height } = spriteOf(kind, size);
      return [kind, within(left, 0, SIDE - width), within(top, 0, SIDE - height), size];
    };
    const items = () => model.get("items").filter(fits).slice(0, MOST).map(inside);
    const chosen = () => Math.min(Math.max(Math.round(model.get("chosen")), 0), items().length - 1);
    const photo = () => (Object.hasOwn(photos, model.get("photo")) ? model.get("photo") : Object.keys(photos)[0]);
    const boxOf = ([kind, left, top, longest]) => {
      const { width, height } = spriteOf(kind, longest);
      return [left, top, left + width, top + height];
    };
    const { line, say } = status();

    // --- What can be set ---

    const change = (n, item) => put({ items: items().map((one, k) => (k === n ? inside(item) : one)), chosen: n });
    const addOne = (kind) => {
      const now = items();
      if (now.length === MOST) return say(`There is room for ${MOST} emoji.`);
      const boxes = now.map(boxOf);
      const size = 16;
      const clear = (left, top) => boxes.every((box) => overlap(box, [left, top, left + size, top + size]) === 0);
      const spots = Array.from({ length: 49 }, (_, n) => [8 * (n % 7), 8 * Math.floor(n / 7)]);
      const [left, top] = spots.find((spot) => clear(...spot)) ?? [24, 24];
      return put({ items: [...now, inside([kind, left, top, size])], chosen: now.length });
    };
    const remove = () => items().length && put({ items: items().filter((_, n) => n !== chosen()), chosen: Math.max(chosen() - 1, 0) });
    const palette = make("div", { class: "palette", role: "group", "aria-label": "Emoji; press one to put it on the photograph" },
      ...kinds.map((kind) => {
        const canvas = make("canvas", { width: LARGEST, height: LARGEST, "aria-hidden": "true" });
        const image = canvas.getContext("2d").createImageData(LARGEST, LARGEST);
        const { width, height, at } = spriteOf(kind, LARGEST);
        for (let y = 0; y < height; y++) for (let x = 0; x < width; x++) {
          const [red, green, blue, opacity] = at(x, y);
          image.data.set([red, green, blue, 255 * opacity], 4 * (y * LARGEST + x));
        }
        canvas.getContext("2d").putImageData(image, 0, 0);
        return make("button", { type: "button", "aria-label": `add: ${kind}`, onclick: () => addOne(kind) }, canvas);
      }));
    const ground = choice({ name: "Photograph", options: Object.fromEntries(Object.keys(photos).map((name) => [name, name])),
      hear: (name) => put({ photo: name }) });
    const size = slider({ name: "Size", values: Array.from({ length: LARGEST - SMALLEST + 1 }, (_, n) => SMALLEST + n),
      show: (n) => `${n} pixels`, hear: (longest) => {
        const item = items()[chosen()];
        if (item) change(chosen(), [...item.slice(0, 3), longest]);
      } });
    const least = slider({ name: "Shown from", values: Array.from({ length: 20 }, (_, n) => 5 * n || 1), show: (n) => `${n}%`,
      hear: (from) => put({ from }) });

    // --- The picture ---

    const canvas = make("canvas", { width: SIDE, height: SIDE, "aria-hidden": "true" });
    const context = canvas.getContext("2d");
    const looks = draw("g", { class: "looks", "aria-hidden": "true" });
    const handles = draw("g", {});
    const marks = draw("g", { "aria-hidden": "true" });
    const svg = draw("svg", { viewBox: `0 0 ${SIDE} ${SIDE}`, role: "group", "aria-label": "The photograph and what is on it" }, looks, handles, marks);
    let held = null;
    const handle = (n) => draw("rect", {
      class: "item", role: "button", tabindex: 0,
      onpointerdown: (event) => {
        const { x, y } = pointIn(svg, event);
        const [, left, top] = items()[n];
        held = { n, x: x - left, y: y - top };
        event.currentTarget.setPointerCapture(event.pointerId);
        put({ chosen: n });
      },
      onpointermove: (event) => {
        if (held?.n !== n) return;
        const { x, y } = pointIn(svg, event);
        const [kind, , , longest] = items()[n];
        change(n, [kind, x - held.x, y - held.y, longest]);
      },
      onpointerup: () => (held = null),
      onpointercancel: () => (held = null),
      onfocus: () => put({ chosen: n }),
      onkeydown: (event) => {
        const way = ARROWS[event.key];
        const [kind, left, top, longest] = items()[n];
        const step = event.shiftKey ? 5 : 1;
        if (way) change(n, [kind, left + step * way[0], top - step * way[1], longest]);
        else if (event.key === "Delete" || event.key === "Backspace") remove();
        else return;
        event.preventDefault();
      },
    });

    // --- What is found ---

    const list = make("ol", { class: "found", "aria-label": "What is found; choose one to see where its query looks" });
    const speed = make("p", { class: "quiet" });
    let guesses = []; // of each query its kind, share and box in pixels
    let maps = []; // of each query how much of each cell its last block takes, mean of the heads
    const shown = () => guesses.filter(({ share }) => 100 * share >= model.get("from")).sort((a, b) => b.share - a.share);
    /** Boxes with the largest share first: which item each is right about. */
    const judged = () => {
      const free = new Set(items().keys());
      return shown().map((guess) => {
        const near = (n) => overlap(boxOf(items()[n]), guess.box);
        const same = [...items().keys()].filter((n) => items()[n][0] === guess.kind);
        const best = same.sort((a, b) => near(b) - near(a))[0];
        const iou = best === undefined ? 0 : near(best);
        const right = iou >= RIGHT && free.delete(best);
        const word = right ? "right" : iou >= RIGHT ? "once more" : iou > 0.1 ? "too far off" : "not there";
        return { ...guess, iou, right, item: best, word };
      });
    };
    const show = () => {
      const found = judged();
      const asked = within(model.get("query"), -1, guesses.length - 1);
      marks.replaceChildren(...found.map(({ kind, share, box: [x, y, right, bottom], right: good }) =>
        draw("g", { class: `box ${good ? "" : "wrong"}` },
          draw("rect", { x, y, width: right - x, height: bottom - y }),
          draw("text", { x: Math.min(Math.max(x, 0.5), SIDE - 14), y: y < 4 ? bottom + 2.6 : y - 0.7 }, `${kind} ${Math.round(100 * share)}%`))));
      list.replaceChildren(...found.map(({ kind, share, query, iou, word }) => make("li", {}, make("button", {
        type: "button", "aria-pressed": query === asked, onclick: () => put({ query: query === asked ? -1 : query }),
      }, ...[kind, percent(share), `query ${query}`, iou > 0 ? `${word}, IoU ${fixed(iou, 2)}` : word].map((text) => make("span", {}, text))))));
      const map = maps[asked] ?? [];
      const rows = Math.sqrt(map.length);
      const width = SIDE / rows; // of a cell
      looks.replaceChildren(...Array.from(map, (share, n) => draw("rect", {
        x: width * (n % rows), y: width * Math.floor(n / rows), width, height: width,
        "fill-opacity": (0.85 * share / Math.max(...map)).toFixed(3),
      })));
      const good = found.filter(({ right }) => right);
      const missed = items().filter((_, n) => !good.some(({ item }) => item === n)).map(([kind]) => kind);
      say(`${good.length} of ${items().length} emoji found with a share of ${model.get("from")}% or more` +
        `${missed.length ? ` (not: ${missed.join(", ")})` : ""}, and ${found.length - good.length} of ${found.length} boxes are wrong.`);
    };
    let picture;
    const detect = () => {
      if (!el.isConnected) return;
      const began = performance.now();
      let last;
      const seen = (_, kind, weights) => kind === "cross" && (last = weights);
      const { logits, boxes } = detector.forward(Float32Array.from(picture, (byte) => byte / 127.5 - 1), { seen });
      speed.textContent = `A detection took ${Math.round(performance.now() - began)} ms here.`;
      guesses = logits.map((scores, n) => {
        const shares = softmax(scores).slice(0, kinds.length);
        const best = shares.indexOf(Math.max(...shares));
        const [x, y, width, height] = Array.from(boxes[n], (part) => SIDE * part);
        return { kind: kinds[best], share: shares[best], query: n, box: [x - width / 2, y - height / 2, x + width / 2, y + height / 2] };
      });
      maps = guesses.map((_, n) => last[0][n].map((_, s) => last.reduce((sum, head) => sum + head[n][s], 0) / last.length));
      show();
    };
    let due;
    const compose = () => {
      const now = items();
      picture = composed(photos[photo()], now.map(([kind, left, top, longest]) => ({ ...spriteOf(kind, longest), left, top })));
      const image = context.createImageData(SIDE, SIDE);
      picture.forEach((byte, n) => (image.data[4 * Math.floor(n / 3) + (n % 3)] = byte));
      for (let n = 3; n < image.data.length; n += 4) image.data[n] = 255;
      context.putImageData(image, 0, 0);
      while (handles.childElementCount > now.length) handles.lastChild.remove();
      while (handles.childElementCount < now.length) handles.append(handle(handles.childElementCount));
      now.forEach((item, n) => {
        const [x, y, right, bottom] = boxOf(item);
        for (const [name, value] of Object.entries({ x, y, width: right - x, height: bottom - y })) handles.children[n].setAttribute(name, value);
        handles.children[n].setAttribute("aria-label", `${item[0]} at ${x}, ${y}; arrow keys move, Delete removes`);
      });
      ground.put(photo());
      mark();
      clearTimeout(due);
      due = setTimeout(detect); // the picture first, what is found as soon as it is known
    };
    const mark = () => {
      [...handles.children].forEach((one, n) => one.classList.toggle("at", n === chosen()));
      size.put(items()[chosen()]?.[3] ?? SMALLEST);
    };
    const filter = () => {
      least.put(model.get("from"));
      show();
    };

    assemble(el, "detection", LOOK,
      make("div", { class: "panels" },
        make("div", {}, make("div", { class: "stage" }, canvas, svg)),
        make("div", {}, make("p", {}, "Press to add, drag to move"), palette, ground.label, size.label, least.label,
          make("div", { class: "buttons" }, button("Remove", remove),
            button("All twelve", () => put({ items: model.get("twelve"), chosen: 0, query: -1 })),
            button("Start again", () => put({ items: model.get("start"), chosen: 0, query: -1 }))))),
      line, list, speed,
      ...tasks("drag one emoji over another, make one small, change the photograph. What is found twice, what is not there? Press a row to see where its query looks.",
        "in its training there were never more than six emoji on a picture. Press “All twelve”: how many of them are found with 50% or more?"),
    );
    least.put(model.get("from"));
    const unlisten = listen(model, [compose, "items", "photo"], [mark, "chosen"], [filter, "from"], [show, "query"]);
    compose();
    return () => {
      clearTimeout(due);
      unlisten();
    };
  },
};
