// The parts of a Transformer, on one text at a time. Names are those of the Python package. A vector
// is a Float32Array, a text is a list of vectors, a matrix is { shape: [rows, columns], data }.
// Shapes: T queries, S keys, H heads, D width, Dh width of a head.

// --- Vectors ---

/** x (D) -> W x + b (out), W (out, D); `first` and `rows` pick some rows of W. */
export function linear(x, { shape, data }, bias = null, first = 0, rows = shape[0]) {
  const y = new Float32Array(rows);
  const width = shape[1];
  let row = 0;
  for (; row + 3 < rows; row += 4) {
    let a = 0, b = 0, c = 0, d = 0; // four rows at once
    for (let i = 0, at = (first + row) * width; i < width; i++, at++) {
      a += data[at] * x[i];
      b += data[at + width] * x[i];
      c += data[at + 2 * width] * x[i];
      d += data[at + 3 * width] * x[i];
    }
    y[row] = a;
    y[row + 1] = b;
    y[row + 2] = c;
    y[row + 3] = d;
  }
  for (; row < rows; row++) {
    for (let i = 0, at = (first + row) * width; i < width; i++) y[row] += data[at + i] * x[i];
  }
  return bias ? y.map((sum, n) => sum + bias.data[first + n]) : y;
}

/** A row of a matrix: the vector of a token, say. */
export function row({ shape, data }, index) {
  if (!(index >= 0 && index < shape[0])) throw new Error(`there is no row ${index} of ${shape[0]}`);
  return data.subarray(index * shape[1], (index + 1) * shape[1]);
}

export const add = (x, y) => x.map((value, i) => value + y[i]);

export function layerNorm(x, weight, bias, eps) {
  const mean = x.reduce((sum, value) => sum + value, 0) / x.length;
  const variance = x.reduce((sum, value) => sum + (value - mean) ** 2, 0) / x.length;
  const scale = 1 / Math.sqrt(variance + eps);
  return x.map((value, i) => (value - mean) * scale * weight.data[i] + bias.data[i]);
}

export function rmsNorm(x, weight, eps) {
  const square = x.reduce((sum, value) => sum + value * value, 0) / x.length;
  const scale = 1 / Math.sqrt(square + eps);
  return x.map((value, i) => value * scale * weight.data[i]);
}

/** Scores (S) -> shares (S) that sum to 1; where all are −∞ there is nothing to share: zeros. */
export function softmax(scores) {
  const largest = scores.reduce((a, b) => Math.max(a, b), -Infinity);
  if (largest === -Infinity) return scores.map(() => 0);
  const powers = scores.map((score) => Math.exp(score - largest));
  const sum = powers.reduce((a, b) => a + b, 0);
  return powers.map((power) => power / sum);
}

/** Scores (S) -> their numbers, the largest first. */
export function ranked(scores) {
  return Array.from(scores.keys()).sort((a, b) => scores[b] - scores[a] || a - b);
}

// --- Activations ---

/** The error function, to 1.2e-7 (Press et al., Numerical Recipes, section 6.2). */
function erf(x) {
  const t = 1 / (1 + Math.abs(x) / 2);
  const terms = [1.00002368, 0.37409196, 0.09678418, -0.18628806, 0.27886807, -1.13520398, 1.48851587,
    -0.82215223, 0.17087277];
  const sum = terms.reduceRight((inner, term) => term + t * inner, 0);
  const rest = t * Math.exp(-x * x - 1.26551223 + t * sum);
  return x >= 0 ? 1 - rest : rest - 1;
}

export const ACTIVATIONS = {
  relu: (x) => Math.max(x, 0),
  gelu: (x) => (x * (1 + erf(x / Math.SQRT2))) / 2,
  gelu_tanh: (x) => (x / 2) * (1 + Math.tanh(Math.sqrt(2 / Math.PI) * (x + 0.044715 * x ** 3))),
  silu: (x) => x / (1 + Math.exp(-x)),
};

// --- Positions ---

/** What is added at a position: sine and cosine in turns (Vaswani et al., 2017). */
export function sinusoidal(position, width, base = 10000) {
  return Float32Array.from({ length: width }, (_, i) => {
    const angle = position * base ** (-(i - (i % 2)) / width);
    return i % 2 ? Math.cos(angle) : Math.sin(angle);
  });
}

/** Turns the pairs (0, D/2), (1, D/2 + 1), … by angles that grow with the position. */
export function rotary(x, position, base) {
  const pairs = x.length / 2;
  const y = new Float32Array(x.length);
  for (let i = 0; i < pairs; i++) {
    const angle = position * base ** ((-2 * i) / x.length);
    const [sin, cos] = [Math.sin(angle), Math.cos(angle)];
    y[i] = x[i] * cos - x[i + pairs] * sin;
    y[i + pairs] = x[i] * sin + x[i + pairs] * cos;
  }
  return y;
}

// --- Masks: a list for each query, true = may attend ---

/** The queries are the last T of S positions; each sees itself and what came before it. */
export function causal(T, S = T) {
  return Array.from({ length: T }, (_, t) => Array.from({ length: S }, (_, s) => s <= S - T + t));
}

/** Every query may look at what is kept. */
export function padding(keep, T = keep.length) {
  return Array.from({ length: T }, () => keep);
}

// --- Attention ---

/** One head: q (T, Dh), k (S, Dh) -> how well each query agrees with each key, (T, S). */
export function attentionScores(q, k, scale = q[0].length ** -0.5) {
  return q.map((query) => {
    const scores = new Float32Array(k.length);
    k.forEach((key, s) => {
      let score = 0;
      for (let i = 0; i < query.length; i++) score += query[i] * key[i];
      scores[s] = score * scale;
    });
    return scores;
  });
}

/** Scores (T, S) -> the same, and −∞ where a query may not attend. */
export function masked(scores, mask) {
  return mask ? scores.map((some, t) => some.map((score, s) => (mask[t][s] ? score : -Infinity))) : scores;
}

/** One head: q (T, Dh), k (S, Dh) -> how much each query takes of each key, (T, S). */
export function attentionWeights(q, k, { mask = null, scale } = {}) {
  return masked(attentionScores(q, k, scale), mask).map(softmax);
}

/** Weights (T, S), v (S, Dh) -> the weighted means (T, Dh). */
export function weightedMeans(weights, v) {
  return weights.map((shares) => {
    const y = new Float32Array(v[0].length);
    v.forEach((value, s) => {
      for (let i = 0; i < y.length; i++) y[i] += shares[s] * value[i];
    });
    return y;
  });
}

/** The keys and values of what was read: of each head a list, (H, S, Dh). */
export class KeyValueCache {
  keys = [];
  values = [];

  get length() {
    return this.keys[0]?.length ?? 0;
  }

  /** Add keys and values (H, T, Dh), and return all of them. */
  append(k, v) {
    this.keys = k.map((some, h) => [...(this.keys[h] ?? []), ...some]);
    this.values = v.map((some, h) => [...(this.values[h] ?? []), ...some]);
    return [this.keys, this.values];
  }

  /** A cache that goes on from here by itself, as another beam of a search does. */
  fork() {
    const other = new KeyValueCache();
    [other.keys, other.values] = [this.keys, this.values].map((all) => all.map((some) => [...some]));
    return other;
  }

  /** Forget all but the first `length` positions. */
  cut(length) {
    for (const list of [...this.keys, ...this.values]) list.length = Math.min(list.length, length);
  }
}

export class MultiHeadAttention {
  constructor(weights, heads, rotaryBase = null) {
    this.qkv = weights.get("qkv.weight"); // rows: all Q, then all K, then all V
    this.qkvBias = weights.find("qkv.bias");
    this.out = weights.get("out.weight");
    this.outBias = weights.find("out.bias");
    Object.assign(this, { heads, rotaryBase });
  }

  /** A text (T, D) -> its queries, keys or values (part 0, 1, 2), (H, T, Dh). */
  project(x, part) {
    const size = this.qkv.shape[0] / 3;
    const whole = x.map((vector) => linear(vector, this.qkv, this.qkvBias, part * size, size));
    const width = size / this.heads;
    return Array.from({ length: this.heads }, (_, h) =>
      whole.map((vector) => vector.subarray(h * width, (h + 1) * width)),
    );
  }

  /**
   * x (T, D) -> (T, D): x looks at itself, or at a `memory` (S, D). `cache` holds the keys and
   * values of earlier calls; `seen` is called with the weights of each head, (H, T, S), and `note`
   * with the name and the value of everything on the way.
   */
  forward(x, { memory = null, mask = null, cache = null, seen = null, note = null } = {}) {
    let q = this.project(x, 0);
    let keys, values;
    if (memory && cache?.length) {
      [keys, values] = [cache.keys, cache.values]; // the memory does not change
    } else {
      [keys, values] = [this.project(memory ?? x, 1), this.project(memory ?? x, 2)];
      note?.("q", q);
      note?.("k", keys);
      note?.("v", values);
      if (this.rotaryBase) {
        const past = cache?.length ?? 0;
        const turn = (head) => head.map((vector, t) => rotary(vector, past + t, this.rotaryBase));
        [q, keys] = [q.map(turn), keys.map(turn)];
      }
      if (cache) [keys, values] = cache.append(keys, values);
    }
    note?.("turned q", q);
    note?.("turned k", keys);
    const scores = q.map((head, h) => attentionScores(head, keys[h]));
    note?.("scores", scores);
    const weights = scores.map((head) => masked(head, mask).map(softmax));
    note?.("weights", weights);
    seen?.(weights);
    const means = weights.map((head, h) => weightedMeans(head, values[h]));
    note?.("means", means);
    return x.map((_, t) => {
      const joined = new Float32Array(this.out.shape[1]);
      means.forEach((head, h) => joined.set(head[t], h * head[t].length));
      return linear(joined, this.out, this.outBias);
    });
  }
}

// --- Blocks ---

/** LayerNorm, or the root mean square where there is no bias. */
function norm(weights, eps) {
  const [weight, bias] = [weights.get("weight"), weights.find("bias")];
  return (x) => (bias ? layerNorm(x, weight, bias, eps) : rmsNorm(x, weight, eps));
}

/** Two linear maps with a bend between them; a gate multiplies what comes out of the bend. */
function feedForward(weights, activation) {
  const [expand, gate, contract] = ["expand", "gate", "contract"].map((name) => ({
    weight: weights.find(`${name}.weight`),
    bias: weights.find(`${name}.bias`),
  }));
  return (x, look = null) => {
    let hidden = linear(x, expand.weight, expand.bias);
    if (gate.weight) {
      const open = linear(x, gate.weight, gate.bias).map(activation);
      hidden = hidden.map((value, i) => value * open[i]);
    } else {
      hidden = hidden.map(activation);
    }
    look?.(hidden);
    return linear(hidden, contract.weight, contract.bias);
  };
}

export class Block {
  constructor(weights, { heads, norm: placement, eps, activation, rotaryBase }) {
    this.post = placement === "post"; // the norm after the sum; else before the sublayer
    this.attention = new MultiHeadAttention(weights.below("self_attention"), heads, rotaryBase);
    this.norm = norm(weights.below("self_residual.norm"), eps);
    if (weights.has("cross_attention.qkv.weight")) {
      this.cross = new MultiHeadAttention(weights.below("cross_attention"), heads);
      this.crossNorm = norm(weights.below("cross_residual.norm"), eps);
    }
    this.feedForward = feedForward(weights.below("feed_forward"), ACTIVATIONS[activation]);
    this.feedNorm = norm(weights.below("feed_residual.norm"), eps);
  }

  /** x (T, D) -> (T, D), with what the sublayer makes of it added. */
  add(x, normalise, sublayer, note = null) {
    const read = this.post ? x : x.map(normalise);
    note?.("read", read);
    const change = sublayer(read);
    note?.("change", change);
    const sum = x.map((vector, t) => add(vector, change[t]));
    const last = this.post ? sum.map(normalise) : sum;
    note?.("stream", last);
    return last;
  }

  /** `note` is called with names as "self.q", "feed.hidden", and values. */
  forward(x, { memory = null, mask = null, memoryMask = null, cache = null, seen = null, note = null } = {}) {
    const notes = (part) => note && ((name, value) => note(`${part}.${name}`, value));
    x = this.add(x, this.norm, (y) =>
      this.attention.forward(y, {
        mask, cache: cache?.own, seen: seen && ((w) => seen("self", w)), note: notes("self"),
      }), notes("self"),
    );
    if (this.cross) {
      x = this.add(x, this.crossNorm, (y) =>
        this.cross.forward(y, {
          memory,
          mask: memoryMask,
          cache: cache?.memory,
          seen: seen && ((w) => seen("cross", w)),
          note: notes("cross"),
        }), notes("cross"),
      );
    }
    const hidden = [];
    x = this.add(x, this.feedNorm, (y) => y.map((one) => this.feedForward(one, note && ((h) => hidden.push(h)))),
      notes("feed"));
    note?.("feed.hidden", hidden);
    return x;
  }
}

/** What the blocks of a stack keep while a text is written. */
export class StackCache {
  constructor(depth) {
    this.blocks = Array.from({ length: depth }, () => ({
      own: new KeyValueCache(),
      memory: new KeyValueCache(),
    }));
  }

  get length() {
    return this.blocks[0].own.length;
  }

  fork() {
    const other = new StackCache(0);
    other.blocks = this.blocks.map(({ own, memory }) => ({ own: own.fork(), memory: memory.fork() }));
    return other;
  }

  cut(length) {
    for (const { own } of this.blocks) own.cut(length);
  }
}

export class Stack {
  constructor(weights, { depth, eps, ...options }) {
    this.blocks = Array.from(
      { length: depth },
      (_, n) => new Block(weights.below(`blocks.${n}`), { eps, ...options }),
    );
    this.final = weights.has("final.weight") ? norm(weights.below("final"), eps) : null;
  }

  /**
   * x (T, D) -> the input and every block's output, depth + 1 times (T, D); `seen` is called with
   * the number of a block, "self" or "cross", weights; `note` with names as "0.self.q", and values.
   */
  states(x, { cache = null, seen = null, note = null, ...options } = {}) {
    const states = [x];
    this.blocks.forEach((block, n) => {
      const look = seen && ((kind, weights) => seen(n, kind, weights));
      const noted = note && ((name, value) => note(`${n}.${name}`, value));
      states.push(block.forward(states[n], { ...options, cache: cache?.blocks[n], seen: look, note: noted }));
    });
    return states;
  }

  /** x (T, D) -> (T, D) */
  forward(x, options) {
    const last = this.states(x, options).at(-1);
    return this.final ? last.map(this.final) : last;
  }
}
