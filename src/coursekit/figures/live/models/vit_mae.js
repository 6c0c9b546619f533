// The course's models of images. A picture is a list of pixels, row by row.

import { blocksOf, check } from "./config.js";
import { add, linear, row, Stack } from "./layers.js";
import { Weights } from "./safetensors.js";

/** A tensor without the batch of one: (1, N, D) -> (N, D). */
const unbatched = ({ shape, data }) => ({ shape: shape.slice(1), data });

/** A layer's weight and bias, for `linear`. */
const layer = (weights, name) => [weights.get(`${name}.weight`), weights.get(`${name}.bias`)];

/** ViT: a picture in patches, each a token, and a class token that the answer is read from. */
export class ViT {
  constructor(weights) {
    const config = check(weights, "ViT", {
      channels: [1], class_token: [true], pool: ["class"], positions: ["1d", "sine"],
      told: ["once", undefined], representation: [0], backbone_channels: [0],
    });
    this.config = config;
    const [{ shape, data }, bias] = layer(weights, "embedding");
    this.embedding = [{ shape: [shape[0], config.patch ** 2], data }, bias];
    this.classToken = row(unbatched(weights.get("class_token")), 0);
    this.positions = unbatched(weights.get("positions.weight"));
    this.head = config.classes ? layer(weights, "head") : null;
    this.stack = new Stack(weights.below("stack"), blocksOf(config, { norm: "pre" }));
  }

  /** How many patches there are in a row. */
  get side() {
    return Math.floor(this.config.image / this.config.patch);
  }

  /** Where pixel i of patch n is in the list of a picture. */
  place(n, i) {
    const { image, patch } = this.config;
    const y = Math.floor(n / this.side) * patch + Math.floor(i / patch);
    return y * image + (n % this.side) * patch + (i % patch);
  }

  /** A picture (image²) -> its patches row by row, (N, patch²). */
  patchify(picture) {
    return Array.from({ length: this.side ** 2 }, (_, n) =>
      Float32Array.from({ length: this.config.patch ** 2 }, (_, i) => picture[this.place(n, i)]));
  }

  /** Patches (N, patch²) -> a picture (image²). */
  unpatchify(patches) {
    const picture = new Float32Array(this.config.image ** 2);
    patches.forEach((pixels, n) => pixels.forEach((value, i) => (picture[this.place(n, i)] = value)));
    return picture;
  }

  /**
   * A picture -> the class token and the `visible` patches (their numbers) behind the last norm,
   * (1 + K, D). The other patches are not read at all.
   */
  features(picture, { visible = null, seen = null } = {}) {
    const patches = this.patchify(picture);
    const read = visible ?? [...patches.keys()];
    const place = (vector, n) => add(vector, row(this.positions, n));
    const tokens = read.map((n) => place(linear(patches[n], ...this.embedding), 1 + n));
    return this.stack.forward([place(this.classToken, 0), ...tokens], { seen });
  }

  /** A picture -> logits of its classes; token 0 of the attention maps is the class token. */
  forward(picture, options) {
    return linear(this.features(picture, options)[0], ...this.head);
  }
}

/** MAE: a ViT reads the visible patches, and a small decoder paints all of them. */
export class MAE {
  constructor(weights) {
    const config = check(weights, "MAE", { normalise: [false] });
    this.config = config;
    const { tensors, about } = weights;
    this.encoder = new ViT(new Weights(tensors, { ...about, class: ".ViT", config: config.encoder }, "encoder."));
    this.narrow = layer(weights, "narrow");
    this.maskToken = row(unbatched(weights.get("mask_token")), 0);
    this.positions = unbatched(weights.get("positions.weight"));
    this.decoder = new Stack(weights.below("decoder"), {
      ...blocksOf(config.encoder, { norm: "pre" }), depth: config.decoder_depth, heads: config.decoder_heads,
    });
    this.predict = layer(weights, "predict");
  }

  /** A picture and the numbers of its visible patches -> what the decoder says of all, (N, patch²). */
  forward(picture, visible) {
    const [first, ...read] = this.encoder.features(picture, { visible }).map((x) => linear(x, ...this.narrow));
    const tokens = Array(this.encoder.side ** 2).fill(this.maskToken);
    visible.forEach((n, k) => (tokens[n] = read[k]));
    const x = [first, ...tokens].map((vector, t) => add(vector, row(this.positions, t)));
    return this.decoder.forward(x).slice(1).map((vector) => linear(vector, ...this.predict));
  }
}
