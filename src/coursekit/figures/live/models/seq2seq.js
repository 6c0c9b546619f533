// The translator.

import { blocksOf, check } from "./config.js";
import { causal, linear, row, sinusoidal, Stack, StackCache } from "./layers.js";

/** The Transformer that translates: an encoder reads the source, a decoder writes the target. */
export class Seq2SeqTransformer {
  constructor(weights) {
    const config = check(weights, "Seq2SeqTransformer", {
      share: ["all", "target"], positions: [null], output_bias: [false], head_width: [null],
      value_width: [null], norm: ["pre", "post"],
    });
    this.config = config;
    this.embedding = weights.get("embedding.weight");
    this.sourceEmbedding = weights.find("source_embedding.weight") ?? this.embedding;
    const blocks = blocksOf(config, { norm: config.norm });
    this.encoder = new Stack(weights.below("encoder"), blocks);
    this.decoder = new Stack(weights.below("decoder"), blocks);
  }

  embed(tokens, table, past = 0) {
    const { width, scale_embedding: scaled } = this.config;
    const scale = scaled ? Math.sqrt(width) : 1;
    return tokens.map((token, t) => {
      const wave = sinusoidal(past + t, width);
      return row(table, token).map((value, i) => value * scale + wave[i]);
    });
  }

  /** Source (S) -> memory (S, D). */
  encode(source, { seen = null } = {}) {
    return this.encoder.forward(this.embed(source, this.sourceEmbedding), { seen });
  }

  /** Read the source once and return the state in which nothing is written yet. */
  start(source) {
    return { memory: this.encode(source), cache: new StackCache(this.config.depth) };
  }

  /** Read the next target tokens and return the logits (V) of what follows them. */
  decode(tokens, { memory, cache }, { seen = null } = {}) {
    const past = cache.length;
    const mask = tokens.length > 1 ? causal(tokens.length, past + tokens.length) : null;
    const x = this.embed(tokens, this.embedding, past);
    return linear(this.decoder.forward(x, { memory, mask, cache, seen }).at(-1), this.embedding);
  }

  /** Source (S), target shifted right (T) -> logits (T, V). */
  forward(source, target, { seen = null } = {}) {
    const memory = this.encode(source);
    const x = this.embed(target, this.embedding);
    const hidden = this.decoder.forward(x, { memory, mask: causal(target.length), seen });
    return hidden.map((vector) => linear(vector, this.embedding));
  }
}
