// Beam search.

import { ranked } from "./layers.js";

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
