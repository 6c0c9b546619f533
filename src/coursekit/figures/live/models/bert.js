// BERT.

import { blocksOf, check } from "./config.js";
import { ACTIVATIONS, add, layerNorm, linear, padding, row, Stack } from "./layers.js";

/** BERT with its two questions: which token was here, and does the second segment follow? */
export class BertForPreTraining {
  constructor(weights) {
    const config = check(weights, "BertForPreTraining", { skip_padding: [false] });
    this.config = config;
    this.table = (name) => weights.get(`bert.embeddings.${name}.weight`);
    this.weights = weights;
    const normOf = (name) => (x) =>
      layerNorm(x, weights.get(`${name}.weight`), weights.get(`${name}.bias`), config.eps);
    this.norm = normOf("bert.embeddings.norm");
    this.wordNorm = normOf("masked_lm.norm");
    this.encoder = new Stack(weights.below("bert.encoder"), blocksOf(config, { norm: "post" }));
  }

  /** Tokens, segments (T) -> what each layer has, (depth + 1, T, D); `keep` is false at padding. */
  states(tokens, { segments = tokens.map(() => 0), keep = null, seen = null } = {}) {
    const x = tokens.map((token, t) => {
      const sum = add(row(this.table("tokens"), token), row(this.table("positions"), t));
      return this.norm(add(sum, row(this.table("segments"), segments[t])));
    });
    return this.encoder.states(x, { mask: keep && padding(keep), seen });
  }

  /** Tokens, segments (T) -> hidden states (T, D) of the last layer. */
  hidden(tokens, options) {
    return this.states(tokens, options).at(-1);
  }

  layer(name, x) {
    return linear(x, this.weights.get(`${name}.weight`), this.weights.find(`${name}.bias`));
  }

  /** A hidden state (D) -> logits (V) of the token that stood there. */
  maskedLM(hidden) {
    const x = this.layer("masked_lm.transform", hidden).map(ACTIVATIONS[this.config.activation]);
    return linear(this.wordNorm(x), this.table("tokens"), this.weights.get("masked_lm.bias"));
  }

  /** Hidden states (T, D) -> two logits: 0 = it followed, 1 = it was drawn at random. */
  nextSentence(hidden) {
    return this.layer("next_sentence", this.layer("bert.pooler", hidden[0]).map(Math.tanh));
  }
}
