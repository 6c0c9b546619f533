// Choosing a token from scores, and writing a text token after token.

/** Logits (V) -> the likeliest token. */
export const greedy = (logits) => logits.reduce((best, score, n) => (score > logits[best] ? n : best), 0);

/** Logits (V) -> −∞ for all but the k likeliest tokens; `order` has the likeliest first. */
export function keepTopK(logits, k, order = ranked(logits)) {
  const kept = logits.map(() => -Infinity);
  for (const token of order.slice(0, k)) kept[token] = logits[token];
  return kept;
}

/** −∞ outside the smallest set of likeliest tokens that together have a probability of p. */
export function keepTopP(logits, p, order = ranked(logits)) {
  if (p >= 1) return logits;
  const shares = softmax(logits);
  let before = 0;
  let size = 0;
  while (size < order.length && before < p) before += shares[order[size++]];
  return keepTopK(logits, size, order);
}

/** Tokens, the likeliest first. */
export function ranked(logits) {
  return Array.from(logits.keys()).sort((a, b) => logits[b] - logits[a] || a - b);
}

/** Logits (V) -> shares (V): temperature first, then top-k, then top-p on what is left. */
export function sharesOf(logits, { temperature = 1, topK = null, topP = 1 } = {}) {
  const order = ranked(logits);
  let scores = Float64Array.from(logits, (score) => score / temperature);
  if (topK) scores = keepTopK(scores, topK, order);
  return softmax(keepTopP(scores, topP, order));
}

/** The token at a point between 0 and 1 of the line on which each has a stretch as long as its share. */
export function tokenAt(shares, point) {
  let last = 0;
  for (const [token, share] of shares.entries()) {
    if (share > 0) last = token;
    if ((point -= share) < 0) return last;
  }
  return last;
}

/** Number n of the random numbers between 0 and 1 that belong to a seed (mulberry32). */
export function random(seed, n) {
  let a = (seed * 0x9e3779b1 + n * 0x6d2b79f5) | 0;
  a = Math.imul(a ^ (a >>> 15), a | 1);
  a ^= a + Math.imul(a ^ (a >>> 7), a | 61);
  return ((a ^ (a >>> 14)) >>> 0) / 2 ** 32;
}

/** Continue `tokens` by at most `longest` more; the token `end` is the last one, if it comes. */
export function generate(model, tokens, state, { longest, end = null, choose = greedy }) {
  const written = [];
  while (written.length < longest) {
    const token = choose(model.decode(written.length ? written.slice(-1) : tokens, state));
    written.push(token);
    if (token === end) break;
  }
  return written;
}

// --- Beam search ---

/** Logits (V) -> the logarithms of the shares (V). */
export function logShares(logits) {
  const largest = logits.reduce((a, b) => Math.max(a, b), -Infinity);
  const sum = logits.reduce((total, score) => total + Math.exp(score - largest), 0);
  return Float64Array.from(logits, (score) => score - largest - Math.log(sum));
}

/** By what the logarithm of a text's probability is divided (Wu et al., 2016). */
export const wuPenalty = (length, alpha) => ((5 + length) / 6) ** alpha;

/**
 * Beam search, as `coursekit.decoding.beam_search` does it; yields each step. A step has the
 * `candidates`, the best first, and the `complete` texts, the best first. A candidate is a text:
 * its parent (a candidate of the step before), last token, length, the sum of its logarithms, and
 * whether it has `ended` and was `kept`: to be continued, or as a complete text with its `score`.
 */
export function* beamSearch(model, tokens, state, { beams, longest, end, alpha = 0.6 }) {
  const first = { parent: null, length: 0, sum: 0 };
  let running = [{ text: first, logits: model.decode(tokens, state), state }];
  let complete = [];
  for (let length = 1; length <= longest && running.length; length++) {
    const all = running.flatMap((beam) => {
      const shares = logShares(beam.logits); // of these the best 2 K are enough
      return ranked(shares).slice(0, 2 * beams).map((token) => {
        const ended = token === end || length === longest;
        return { parent: beam.text, beam, token, length, sum: beam.text.sum + shares[token], ended };
      });
    });
    const candidates = all.sort((a, b) => b.sum - a.sum).slice(0, 2 * beams);
    const ended = candidates.slice(0, beams).filter((one) => one.ended);
    for (const one of ended) one.score = one.sum / wuPenalty(length, alpha);
    complete = [...complete, ...ended].sort((a, b) => b.score - a.score).slice(0, beams);
    const goOn = candidates.filter((one) => !one.ended).slice(0, beams);
    const worst = complete[beams - 1]?.score ?? -Infinity;
    const hope = goOn.length > 0 && goOn[0].sum / wuPenalty(length, alpha) > worst;
    for (const one of hope ? [...goOn, ...ended] : ended) one.kept = true;
    yield { candidates, complete };
    if (!hope) return;
    running = goOn.map((text) => {
      const state = { ...text.beam.state, cache: text.beam.state.cache.fork() };
      return { text, state, logits: model.decode([text.token], state) };
    });
  }
}

/** The tokens of a candidate, from the first to its own. */
export function written(text) {
  return text.parent ? [...written(text.parent), text.token] : [];
}
