// A masked autoencoder paints the patches that the reader hides, and so do three painters without a
// network. State: pictures, names, mean, linear (mean and covariance), order (of patches), picture
// (from 1), hidden (numbers of patches from 0), painter, weights.

import { asBytes, Weights } from "./models/safetensors.js";
import { MAE } from "./models/vit_mae.js";
import { greyPicture, PATCHES, patchGrid, pictureChoice, pixelsOf } from "./patch_grid.js";
import {
  assemble, button, listen, make, oneOf, setter, slider, status, tasks,
} from "./ui/controls.js";

const PAINTERS = { mae: "the autoencoder", linear: "the best linear guess", nearby: "pixels nearby", mean: "the mean picture" };

const LOOK = `
.painting .panels { display: grid; gap: 0.8rem; grid-template-columns: repeat(3, 1fr); }
.painting .panels p { margin: 0 0 0.2rem; }
.painting .panels canvas { width: 100%; }
.painting .chip small { font-weight: normal; }
@media (max-width: 36rem) {
  .painting .panels { grid-template-columns: 1fr 1fr; }
  .painting .panels > :first-child { grid-column: 1 / -1; margin: 0 auto; width: 16rem; }
}
`;

/** Each hidden pixel from the visible ones, which count 1/d⁴ at distance d; null without any. */
export function fromNeighbours(pixels, isHidden, side) {
  const visible = [...pixels.keys()].filter((n) => !isHidden(n));
  if (visible.length === 0) return null;
  return pixels.map((value, n) => {
    if (!isHidden(n)) return value;
    let [sum, total] = [0, 0];
    for (const other of visible) {
      const [down, right] = [Math.floor(n / side) - Math.floor(other / side), (n % side) - (other % side)];
      const weight = (down * down + right * right) ** -2;
      sum += weight * pixels[other];
      total += weight;
    }
    return sum / total;
  });
}

/** What `linear_state` of linear_guess.py packs -> the mean (M) and the covariance, M rows of M. */
export function meanAndCovariance({ scale, numbers }, M) {
  const whole = new Int16Array(asBytes(numbers).buffer);
  const mean = Float64Array.from(whole.subarray(0, M), (number) => number * scale);
  const covariance = Array.from({ length: M }, () => new Float64Array(M));
  let place = M;
  for (let row = 0; row < M; row++) {
    for (let column = row; column < M; column++) {
      covariance[row][column] = covariance[column][row] = whole[place++] * scale;
    }
  }
  return { mean, covariance };
}

/** Each hidden pixel as the linear guess with the least squared error: m_h + C_hv C_vv⁻¹ (v − m_v). */
export function linearGuess(pixels, isHidden, { mean, covariance }) {
  const visible = [...pixels.keys()].filter((n) => !isHidden(n));
  const size = visible.length;
  const L = []; // C_vv = L Lᵀ
  const solved = new Float64Array(size); // L⁻¹ (v − m_v), then C_vv⁻¹ (v − m_v)
  for (let i = 0; i < size; i++) {
    const row = new Float64Array(i + 1);
    for (let j = 0; j <= i; j++) {
      const other = j < i ? L[j] : row;
      let sum = covariance[visible[i]][visible[j]];
      for (let k = 0; k < j; k++) sum -= row[k] * other[k];
      row[j] = j < i ? sum / other[j] : Math.sqrt(sum);
    }
    L.push(row);
    let left = pixels[visible[i]] - mean[visible[i]];
    for (let k = 0; k < i; k++) left -= row[k] * solved[k];
    solved[i] = left / row[i];
  }
  for (let i = size - 1; i >= 0; i--) {
    solved[i] /= L[i][i];
    for (let k = 0; k < i; k++) solved[k] -= L[i][k] * solved[i];
  }
  return pixels.map((value, n) =>
    (isHidden(n) ? visible.reduce((sum, v, i) => sum + covariance[n][v] * solved[i], mean[n]) : value));
}

export default {
  render({ model, el }) {
    const mae = new MAE(Weights.read(model.get("weights")));
    const { encoder } = mae;
    const { image: side, patch } = encoder.config;
    const N = encoder.side ** 2;
    const patchOf = Int32Array.from({ length: side ** 2 });
    for (let n = 0; n < N; n++) for (let i = 0; i < patch ** 2; i++) patchOf[encoder.place(n, i)] = n;
    const names = model.get("names");
    const pictures = model.get("pictures").map(pixelsOf);
    const mean = pixelsOf(model.get("mean"));
    const law = meanAndCovariance(model.get("linear"), side ** 2);
    const put = setter(model);
    const chosen = () => Math.min(Math.max(Math.round(model.get("picture")), 1), pictures.length) - 1;
    const hidden = () => new Set(model.get("hidden").filter((n) => Number.isInteger(n) && n >= 0 && n < N));
    const painter = () => (Object.hasOwn(PAINTERS, model.get("painter")) ? model.get("painter") : "mae");
    const hide = (patches) => put({ hidden: [...patches].sort((a, b) => a - b) });
    const { line, say } = status();

    // --- What can be set ---

    const pick = pictureChoice({ pictures, names, side, choose: (n) => {
      put({ picture: n + 1 });
      say(summary());
    } });
    const count = slider({
      name: "Hidden", values: Array.from({ length: N + 1 }, (_, n) => n), show: (n) => `${n} of ${N}`,
      hear: (wanted) => { // those that are hidden stay so as long as they can
        const now = hidden();
        const order = model.get("order");
        const ranked = [...order.filter((n) => now.has(n)), ...order.filter((n) => !now.has(n))];
        hide(ranked.slice(0, wanted));
      },
      settle: () => say(summary()),
    });
    const again = (order) => {
      const size = hidden().size;
      model.set("order", order);
      hide(order.slice(0, size));
      say(summary());
    };
    const first = model.get("order");
    const shuffle = () => {
      const order = [...first];
      for (let n = N - 1; n > 0; n--) {
        const other = Math.floor(Math.random() * (n + 1));
        [order[n], order[other]] = [order[other], order[n]];
      }
      again(order);
    };
    const read = patchGrid({
      name: "Patches: press one to hide or to show it. Arrow keys move, Space presses.", side, rows: encoder.side,
      begin: (n) => !hidden().has(n),
      stroke: (n, on) => {
        const now = hidden();
        now[on ? "add" : "delete"](n);
        hide(now);
      },
      end: () => say(summary()),
    });
    const painters = oneOf({ name: "Painters", choose: (n) => {
      put({ painter: Object.keys(PAINTERS)[n] });
      say(summary());
    } });
    painters.group.classList.add("chips");
    const offs = Object.keys(PAINTERS).map(() => make("small", {}));
    painters.fill(Object.values(PAINTERS).map((name, n) =>
      make("button", { type: "button", class: "chip ends" }, name, offs[n])));

    // --- What is seen ---

    const painted = greyPicture(side, "What is painted");
    const truth = greyPicture(side, "The truth");
    let errors = [];
    const paintings = (pixels, now) => {
      const isHidden = (n) => now.has(patchOf[n]);
      const visible = Array.from({ length: N }, (_, n) => n).filter((n) => !now.has(n));
      const says = encoder.unpatchify(mae.forward(pixels, visible));
      const filled = (guess) => pixels.map((value, n) => (isHidden(n) ? guess[n] : value));
      return {
        mae: filled(says),
        linear: linearGuess(pixels, isHidden, law),
        nearby: fromNeighbours(pixels, isHidden, side),
        mean: filled(mean),
      };
    };
    /** Root of the mean squared error of the hidden pixels, in grey levels of 255. */
    const off = (guess, pixels, now) => {
      const sum = pixels.reduce((all, value, n) => all + (now.has(patchOf[n]) ? (guess[n] - value) ** 2 : 0), 0);
      return 127.5 * Math.sqrt(sum / (now.size * patch ** 2));
    };
    const summary = () => {
      const size = hidden().size;
      if (size === 0) return `Nothing of the ${names[chosen()]} is hidden, so there is nothing to paint.`;
      const list = Object.values(PAINTERS).flatMap((name, n) => (errors[n] === "—" ? [] : [`${name} ${errors[n]}`]));
      return `${size} of ${N} patches of the ${names[chosen()]} are hidden. Off there, in grey levels of 255: ${list.join(", ")}.`;
    };
    const show = () => {
      const pixels = pictures[chosen()];
      const now = hidden();
      pick.put(chosen());
      count.put(now.size);
      read.put(pixels.map((value, n) => (now.has(patchOf[n]) ? NaN : value)), Array.from({ length: N }, (_, n) => (
        { told: now.has(n) ? ", hidden" : "", pressed: now.has(n) }
      )));
      const made = paintings(pixels, now);
      errors = Object.values(made).map((guess) => (guess && now.size ? off(guess, pixels, now).toFixed(1) : "—"));
      const keys = Object.keys(PAINTERS);
      const at = keys.indexOf(painter());
      painters.put(at);
      keys.forEach((_, n) => {
        offs[n].textContent = errors[n];
        offs[n].parentElement.setAttribute("aria-pressed", n === at);
      });
      painted.put(made[painter()] ?? pixels.map(() => NaN));
      truth.put(pixels);
    };

    assemble(el, "painting", PATCHES + LOOK,
      pick.group,
      make("div", { class: "controls" }, count.label),
      make("div", { class: "panels" },
        make("div", {}, make("p", {}, "Press or stroke patches"), read.group),
        make("div", {}, make("p", {}, "Painted"), painted.canvas),
        make("div", {}, make("p", {}, "The truth"), truth.canvas)),
      make("p", { class: "quiet" }, "Painters, and by how many grey levels each is off in the hidden pixels"),
      painters.group,
      make("div", { class: "buttons" }, button("Hide others", shuffle), button("The first ones again", () => again(first))),
      line,
      ...tasks("hide the heel, a whole half, then everything. What does the autoencoder paint where it has nothing to go by?",
        "it was trained with 37 patches hidden. Leave the slider there and go through the pictures: for how many is the autoencoder less far off than the best linear guess? And with 12?"),
    );
    show();
    say(summary());
    return listen(model, [show, "picture", "hidden", "painter"]);
  },
};
