// The course's detector: a residual network makes a map of the picture, a Transformer reads it, and
// each object query says one kind and one box. A map is a list of its cells row by row,
// each a vector of its channels, and knows its `side`.

import { blocksOf, check } from "./config.js";
import { add, linear, row, sinusoidal, Stack } from "./layers.js";

const relu = (x) => x.map((value) => Math.max(value, 0));

/** A map of `side` × `side` cells from a function of row and column. */
function mapOf(side, cell) {
  const map = Array.from({ length: side ** 2 }, (_, n) => cell(Math.floor(n / side), n % side));
  return Object.assign(map, { side });
}

/** Where a window of `size` cells a side is at row y and column x: [place in the window, cell], inside. */
function* windowAt(map, size, stride, y, x) {
  const [top, left] = [y, x].map((n) => n * stride - Math.floor(size / 2));
  for (let n = 0; n < size ** 2; n++) {
    const [down, right] = [top + Math.floor(n / size), left + (n % size)];
    const inside = down >= 0 && right >= 0 && down < map.side && right < map.side;
    if (inside) yield [n, map[down * map.side + right]];
  }
}

/** A convolution is one linear map of each window; its batch normalisation is part of the weights. */
class ConvNorm {
  constructor(weights, stride = 1) {
    const { shape: [rows, channels, size], data } = weights.get("convolution.weight");
    const [weight, bias, mean, variance] = ["weight", "bias", "running_mean", "running_var"]
      .map((name) => weights.get(`norm.${name}`).data);
    const scale = weight.map((value, n) => value / Math.sqrt(variance[n] + 1e-5));
    const width = channels * size ** 2; // per window: place after place, each with its channels
    const matrix = new Float32Array(rows * width);
    data.forEach((value, n) => {
      const [out, channel, place] = [Math.floor(n / width), Math.floor((n % width) / size ** 2), n % size ** 2];
      matrix[out * width + place * channels + channel] = value * scale[out];
    });
    this.weight = { shape: [rows, width], data: matrix };
    this.bias = { data: bias.map((value, n) => value - mean[n] * scale[n]) };
    Object.assign(this, { size, stride, channels });
  }

  forward(map) {
    const { size, stride, channels, weight, bias } = this;
    return mapOf(Math.ceil(map.side / stride), (y, x) => {
      const read = new Float32Array(weight.shape[1]); // zero beyond the edge
      for (const [n, cell] of windowAt(map, size, stride, y, x)) read.set(cell, n * channels);
      return linear(read, weight, bias);
    });
  }
}

/** relu(shortcut(x) + branch(x)) */
class ResidualBlock {
  constructor(weights, stride) {
    this.branch = [new ConvNorm(weights.below("branch.0"), stride), new ConvNorm(weights.below("branch.1"))];
    const shortcut = weights.below("shortcut");
    this.shortcut = shortcut.has("convolution.weight") ? new ConvNorm(shortcut, stride) : { forward: (x) => x };
  }

  forward(map) {
    const inner = this.branch[0].forward(map);
    const change = this.branch[1].forward(mapOf(inner.side, (y, x) => relu(inner[y * inner.side + x])));
    const kept = this.shortcut.forward(map);
    return mapOf(change.side, (y, x) => relu(add(change[y * change.side + x], kept[y * change.side + x])));
  }
}

/** The largest of 3 × 3 cells, of every second one. */
function maxPool(map) {
  return mapOf(Math.ceil(map.side / 2), (y, x) => {
    const most = new Float32Array(map[0].length).fill(-Infinity);
    for (const [, cell] of windowAt(map, 3, 2, y, x)) {
      for (let n = 0; n < most.length; n++) most[n] = Math.max(most[n], cell[n]);
    }
    return most;
  });
}

/** Add vectors for places to what queries and keys are made of, never to values. */
function place(attention, ofQueries, ofKeys = ofQueries) {
  const project = attention.project.bind(attention);
  attention.project = (x, part) => {
    const places = [ofQueries, ofKeys, null][part]?.(x.length);
    return project(places ? x.map((vector, t) => add(vector, places[t])) : x, part);
  };
}

export class Detector {
  constructor(weights) {
    const config = check(weights, "Detector", { places: ["sine"], feed_forward: [true], norm: ["pre"] });
    const { block, depths } = weights.about.options.resnet;
    if (block !== "basic") throw new Error(`block = ${block} is not written here`);
    this.config = config;
    const backbone = weights.below("backbone");
    this.stem = new ConvNorm(backbone.below("stem"), 2);
    this.stages = depths.map((depth, stage) => Array.from({ length: depth }, (_, n) =>
      new ResidualBlock(backbone.below(`stages.${stage}.${n}`), stage > 0 && n === 0 ? 2 : 1)));
    const bothOf = (name) => [weights.get(`${name}.weight`), weights.get(`${name}.bias`)];
    this.project = bothOf("project");
    [this.classHead, ...this.boxHead] = ["class_head", "box_head.0", "box_head.2", "box_head.4"].map(bothOf);
    this.queries = Array.from({ length: config.queries }, (_, n) => row(weights.get("queries"), n));
    const stack = (name, depth) => new Stack(weights.below(name),
      blocksOf({ ...config, activation: "relu", depth }, { norm: config.norm }));
    this.encoder = stack("encoder", config.encoder_depth);
    this.decoder = stack("decoder", config.decoder_depth);
    const [queries, cells] = [() => this.queries, (count) => this.positions(Math.sqrt(count))];
    for (const { attention } of this.encoder.blocks) place(attention, cells);
    for (const { attention, cross } of this.decoder.blocks) {
      place(attention, queries);
      place(cross, queries, cells);
    }
  }

  /** Sines of a map's rows beside those of its columns, (S, D). */
  positions(side) {
    const half = this.config.width / 2;
    const sines = (n) => sinusoidal(((n + 1) / (side + 1e-6)) * 2 * Math.PI, half);
    return mapOf(side, (y, x) => Float32Array.from([...sines(y), ...sines(x)]));
  }

  /**
   * Pixels from −1 to 1, row by row, each red, green, blue -> of each query logits of the kinds and
   * of "no object", and a box: centre x, centre y, width, height in parts of the picture. `seen` is
   * called for the decoder: number of the block, "self" or "cross", weights.
   */
  forward(picture, { seen = null } = {}) {
    const side = Math.sqrt(picture.length / 3);
    const pixels = mapOf(side, (y, x) => picture.subarray(3 * (y * side + x), 3 * (y * side + x) + 3));
    const stem = this.stem.forward(pixels);
    let map = maxPool(mapOf(stem.side, (y, x) => relu(stem[y * stem.side + x])));
    for (const block of this.stages.flat()) map = block.forward(map);
    const [{ shape, data }, bias] = this.project;
    const cells = [...map].map((cell) => linear(cell, { shape: shape.slice(0, 2), data }, bias));
    const memory = this.encoder.forward(cells);
    const start = this.queries.map((query) => query.map(() => 0)); // only the queries tell them apart
    const states = this.decoder.forward(start, { memory, seen });
    return {
      logits: states.map((state) => linear(state, ...this.classHead)),
      boxes: states.map((state) => {
        const [first, second, last] = this.boxHead;
        const inner = relu(linear(relu(linear(state, ...first)), ...second));
        return linear(inner, ...last).map((value) => 1 / (1 + Math.exp(-value)));
      }),
    };
  }
}
