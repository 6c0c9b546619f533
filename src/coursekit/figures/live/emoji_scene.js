// Emoji on a photograph, made as the detector's training data are, pixel by pixel.

const FAINT = 32; // pixels of an emoji with less opacity, of 255, are left out

/** For each of `size` places, which of `length` pixels it is the weighted mean of: [first, weights]. */
function spread(length, size) {
  const scale = length / size;
  const reach = Math.max(scale, 1);
  return Array.from({ length: size }, (_, n) => {
    const middle = (n + 0.5) * scale;
    const first = Math.max(Math.trunc(middle - reach + 0.5), 0);
    const last = Math.min(Math.trunc(middle + reach + 0.5), length);
    const weights = Array.from({ length: last - first }, (_, k) => Math.max(1 - Math.abs(first + k - middle + 0.5) / reach, 0));
    const sum = weights.reduce((a, b) => a + b, 0);
    return [first, weights.map((weight) => weight / sum)];
  });
}

/** Square picture (side² × 4), bytes -> one of `size` pixels a side: first its rows, then its columns. */
function resized(bytes, side, size) {
  const places = spread(side, size);
  const pass = (from, across, put) => {
    for (let line = 0; line < across; line++) places.forEach(([first, weights], n) => {
      for (let c = 0; c < 4; c++) {
        put(line, n, c, Math.round(weights.reduce((sum, weight, k) => sum + weight * from(line, first + k, c), 0)));
      }
    });
  };
  const [narrow, small] = [new Uint8ClampedArray(side * size * 4), new Uint8ClampedArray(size * size * 4)];
  pass((y, x, c) => bytes[4 * (y * side + x) + c], side, (y, x, c, value) => (narrow[4 * (y * size + x) + c] = value));
  pass((x, y, c) => narrow[4 * (y * size + x) + c], size, (x, y, c, value) => (small[4 * (y * size + x) + c] = value));
  return small;
}

/** A drawing (side² × 4: red, green, blue, opacity) -> it at a size, cut to what is seen of it. */
export function sprite(drawing, longest) {
  const side = Math.sqrt(drawing.length / 4);
  const colours = (bytes, change) => bytes.map((value, n) => (n % 4 === 3 ? value : change(value, bytes[n - (n % 4) + 3])));
  const faded = colours(drawing, (value, opacity) => Math.round((value * opacity) / 255));
  const small = colours(resized(faded, side, longest),
    (value, opacity) => (opacity === 0 ? value : Math.min(Math.floor((255 * value) / opacity), 255)));
  const seen = (x, y) => small[4 * (y * longest + x) + 3] >= FAINT;
  const every = [...Array(longest).keys()];
  const columns = every.filter((x) => every.some((y) => seen(x, y)));
  const rows = every.filter((y) => every.some((x) => seen(x, y)));
  const [left, top, width, height] = [columns[0], rows[0], columns.at(-1) - columns[0] + 1, rows.at(-1) - rows[0] + 1];
  /** Red, green, blue of a pixel and its opacity from 0 to 1. */
  const at = (x, y) => {
    const n = 4 * ((top + y) * longest + left + x);
    return [...small.subarray(n, n + 3), seen(left + x, top + y) ? small[n + 3] / 255 : 0];
  };
  return { width, height, at };
}

/** A photograph (side² × 3, bytes) with what is `placed` on it: [{ left, top, width, height, at }]. */
export function composed(photo, placed) {
  const side = Math.sqrt(photo.length / 3);
  const picture = Float32Array.from(photo);
  for (const { left, top, width, height, at } of placed) {
    for (let y = 0; y < height; y++) for (let x = 0; x < width; x++) {
      const colour = at(x, y);
      const n = 3 * ((top + y) * side + left + x);
      for (let c = 0; c < 3; c++) picture[n + c] = colour[3] * colour[c] + (1 - colour[3]) * picture[n + c];
    }
  }
  return Uint8Array.from(picture, Math.round);
}

/** Boxes as left, top, right, bottom -> how much of both together they share. */
export function overlap(a, b) {
  const both = [0, 1].map((n) => Math.max(Math.min(a[n + 2], b[n + 2]) - Math.max(a[n], b[n]), 0));
  const area = (box) => (box[2] - box[0]) * (box[3] - box[1]);
  return (both[0] * both[1]) / (area(a) + area(b) - both[0] * both[1]);
}
