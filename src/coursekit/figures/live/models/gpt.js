// GPT.

import { blocksOf, check } from "./config.js";
import { add, causal, linear, row, Stack, StackCache } from "./layers.js";

/** GPT: causal blocks, and the token vectors again as output. */
export class GPT {
  constructor(weights) {
    const same = [null, weights.about.config?.heads];
    const config = check(weights, "GPT", {
      tied: [true], window: [null], kv_heads: same, head_width: [null],
    });
    this.config = config;
    this.tokens = weights.get("tokens.weight");
    this.positions = config.rotary ? null : weights.get("positions.weight");
    const rotaryBase = config.rotary ? config.rotary_base : null;
    this.stack = new Stack(weights.below("stack"), blocksOf(config, { norm: config.norm, rotaryBase }));
  }

  /** Token ids (T) -> vectors (T, D), behind `past` tokens that were read before. */
  embed(tokens, past = 0) {
    const x = tokens.map((token) => row(this.tokens, token).slice());
    return this.positions ? x.map((vector, t) => add(vector, row(this.positions, past + t))) : x;
  }

  /** Vector (D) -> logits (V): how well each token's own vector agrees with it. */
  scores(x) {
    return linear(x, this.tokens);
  }

  /** Tokens (T) -> logits (T, V): at t, the scores of the token that follows t. */
  forward(tokens, { seen = null, note = null } = {}) {
    const first = this.embed(tokens);
    note?.("embedding", first);
    const x = this.stack.forward(first, { mask: causal(tokens.length), seen, note });
    note?.("final", x);
    return x.map((vector) => this.scores(vector));
  }

  /** Tokens (T) -> all that is computed on the way, by name ("0.self.q": block 0), and `logits`. */
  trace(tokens) {
    const values = {};
    values.logits = this.forward(tokens, { note: (name, value) => (values[name] = value) });
    return values;
  }

  start() {
    return { cache: new StackCache(this.config.depth) };
  }

  /** Read tokens after what `state` holds -> logits (V) of what follows them. */
  decode(tokens, { cache }, { seen = null } = {}) {
    const past = cache.length;
    const mask = tokens.length > 1 ? causal(tokens.length, past + tokens.length) : null;
    const x = this.stack.forward(this.embed(tokens, past), { mask, cache, seen });
    return this.scores(x.at(-1));
  }
}
