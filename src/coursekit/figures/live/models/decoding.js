// Choosing a token from scores, and writing a text token after token.

import { ranked, softmax } from "./layers.js";

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
