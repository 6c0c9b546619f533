// A model before its training: the control of figures that show a trained one.

import { Weights } from "./safetensors.js";
import { random } from "./decoding.js";

/** Uniform numbers in pairs -> normal ones (Box and Muller, 1958). */
function* normals(seed) {
  for (let n = 0; ; n += 2) {
    const radius = Math.sqrt(-2 * Math.log(1 - random(seed, n)));
    const angle = 2 * Math.PI * random(seed, n + 1);
    yield radius * Math.cos(angle);
    yield radius * Math.sin(angle);
  }
}

/** The weights of a trained model -> those it could have started from: matrices are random. */
export function untrained(weights, { spread, seed = 1 }) {
  const draw = normals(seed);
  const tensors = new Map();
  for (const [name, { shape }] of weights.tensors) {
    const data = new Float32Array(shape.reduce((a, b) => a * b, 1));
    if (name.endsWith("norm.weight")) data.fill(1);
    else if (shape.length > 1) data.forEach((_, i) => (data[i] = spread * draw.next().value));
    tensors.set(name, { shape, data }); // a bias starts at zero
  }
  return new Weights(tensors, weights.about);
}
