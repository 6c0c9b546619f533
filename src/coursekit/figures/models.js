// The course's models, built from the files that their trainings have kept. Each reads one text, a
// list of token ids, and gives scores (logits) of all tokens of its vocabulary.

/** Say no to a config that asks for what is not written here. */
function check(weights, kind, allowed) {
  const { class: name, config } = weights.about;
  if (!name?.endsWith(`.${kind}`)) throw new Error(`the file holds a ${name}; a ${kind} is expected`);
  for (const [key, values] of Object.entries(allowed)) {
    if (!values.includes(config[key])) throw new Error(`${key} = ${config[key]} is not written here`);
  }
  return config;
}

/** What the blocks of a config are; its names are those of the Python package. */
const blocksOf = ({ depth, heads, eps, activation }, more) => ({ depth, heads, eps, activation, ...more });

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
  forward(tokens, { seen = null } = {}) {
    const x = this.stack.forward(this.embed(tokens), { mask: causal(tokens.length), seen });
    return x.map((vector) => this.scores(vector));
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
