// A policy on a leash: how far the best policy goes from its reference for a reward, and what DPO's
// loss says of it. State: answers, reference (log-probabilities), start (rewards), rewards, beta,
// chosen, rejected (a pair of answers).

import {
  assemble, button, choice, draw, fixed, listen, make, nearest, percent, setter, slider, status,
  tasks,
} from "./ui/controls.js";
import { movable, MOVING } from "./ui/moving.js";

const BETAS = [8, 6, 4, 3, 2, 1.5, 1.2, 1, 0.8, 0.6, 0.5, 0.4, 0.3, 0.25, 0.2, 0.15, 0.12, 0.1, 0.08, 0.06, 0.05, 0.04];
const REWARDS = Array.from({ length: 61 }, (_, n) => (n - 30) / 10);
const PLAN = { left: 46, right: 330, top: 14, foot: 196 };

const LOOK = `
.kl_leash .answers { list-style: none; margin: 0.6rem 0; padding: 0; }
.kl_leash .answers li { border-top: 1px solid var(--line); display: grid; gap: 0 1rem; grid-template-columns: 3fr 4fr 4rem; align-items: center; margin: 0; padding: 0.25rem 0; }
.kl_leash .track { height: 1.3rem; position: relative; }
.kl_leash .fill { background: var(--mark); inset: 0.25rem auto 0.25rem 0; position: absolute; }
.kl_leash .own { border: 2px solid #e69f00; box-sizing: border-box; inset: 0 auto 0 0; position: absolute; }
.kl_leash .share { font-variant-numeric: tabular-nums; text-align: right; }
.kl_leash .plans { display: grid; gap: 0.4rem 1.2rem; grid-template-columns: repeat(auto-fit, minmax(17rem, 1fr)); align-items: start; }
.kl_leash .plans svg { display: block; margin: 0 auto; max-width: 24rem; width: 100%; }
.kl_leash .plans text { fill: currentColor; font-size: 12px; pointer-events: none; }
.kl_leash .axis { stroke: var(--line); }
.kl_leash .curve { fill: none; stroke: var(--mark); stroke-width: 2; }
.kl_leash .here { cursor: ew-resize; fill: #0072b2; stroke: var(--pst-color-background, white); stroke-width: 2; }
.kl_leash .reach { cursor: ew-resize; touch-action: none; }
.kl_leash .pair p { margin: 0.3rem 0; }
@media (max-width: 36rem) { .kl_leash .answers li { grid-template-columns: 1fr 4rem; } .kl_leash .answers label { grid-column: 1 / -1; } }
`;

/** Log-probabilities of the reference (A), rewards (A), β -> those of the best policy (A). */
function leashed(reference, rewards, beta) {
  const scores = Float64Array.from(reference, (log, n) => log + rewards[n] / beta);
  const most = Math.max(...scores);
  const total = most + Math.log(scores.reduce((sum, score) => sum + Math.exp(score - most), 0));
  return scores.map((score) => score - total);
}

/** Log-probabilities of two policies (A) -> their Kullback–Leibler divergence, in nats. */
const divergence = (policy, reference) =>
  policy.reduce((sum, log, n) => sum + Math.exp(log) * (log - reference[n]), 0);

const mean = (policy, rewards) => policy.reduce((sum, log, n) => sum + Math.exp(log) * rewards[n], 0);

/** A pair's ln π / π_ref -> DPO's loss, and its derivative with respect to ln π of the preferred. */
function dpo(better, worse, beta) {
  const margin = beta * (better - worse);
  const loss = Math.max(-margin, 0) + Math.log1p(Math.exp(-Math.abs(margin)));
  return { margin, loss, slope: -beta / (1 + Math.exp(margin)) };
}

export default {
  render({ model, el }) {
    const [answers, start] = [model.get("answers"), model.get("start")];
    const reference = Float64Array.from(model.get("reference"));
    const put = setter(model);
    const near = (values, wanted, other) => (Number.isFinite(wanted) ? nearest(values, wanted) : other);
    const rewards = () => start.map((first, n) => near(REWARDS, model.get("rewards")[n], first));
    const beta = () => near(BETAS, model.get("beta"), 1);
    const answer = (name, other) => (answers[model.get(name)] === undefined ? other : model.get(name));
    const { line, say } = status();
    const settled = () => say(summary());

    // --- What can be set ---

    const leash = slider({ name: "Leash β", values: BETAS, hear: (value) => put({ beta: value }), settle: settled });
    const rows = answers.map((text, n) => {
      const reward = slider({
        name: text, values: REWARDS, show: (value) => fixed(value, 1), settle: settled,
        hear: (value) => put({ rewards: rewards().map((was, k) => (k === n ? value : was)) }),
      });
      const [fill, own, share] = ["fill", "own", "share"].map((name) => make("span", { class: name }));
      return { reward, fill, own, share, item: make("li", {}, reward.label, make("span", { class: "track" }, fill, own), share) };
    });
    const options = Object.fromEntries(answers.map((text, n) => [n, text]));
    const pick = (name, title) => choice({ name: title, options, hear: (n) => {
      put({ [name]: Number(n) });
      settled();
    } });
    const pair = { chosen: pick("chosen", "Preferred"), rejected: pick("rejected", "Not preferred") };

    // --- The curve of all leashes ---

    const curve = draw("path", { class: "curve" });
    const here = draw("circle", { class: "here", r: 7 });
    const reach = draw("rect", { class: "reach", x: PLAN.left, y: PLAN.top, width: PLAN.right - PLAN.left, height: PLAN.foot - PLAN.top });
    const marks = Object.fromEntries(["left", "right", "top", "foot"].map((name) => [name, draw("text", {})]));
    const drawing = draw("svg", { viewBox: "0 0 340 236", role: "img" },
      draw("line", { class: "axis", x1: PLAN.left, x2: PLAN.right, y1: PLAN.foot, y2: PLAN.foot }),
      draw("line", { class: "axis", x1: PLAN.left, x2: PLAN.left, y1: PLAN.top, y2: PLAN.foot }),
      draw("text", { x: (PLAN.left + PLAN.right) / 2, y: 230, "text-anchor": "middle" }, "divergence (nats; the axis is its square root)"),
      draw("text", { transform: `translate(12 ${(PLAN.top + PLAN.foot) / 2}) rotate(-90)`, "text-anchor": "middle" }, "expected reward"),
      ...Object.values(marks), curve, here, reach);
    let points = []; // of each β
    const drag = ({ x: at }) =>
      put({ beta: BETAS[points.indexOf(nearest(points, at))] });
    movable(reach, { begin: drag, drag, end: settled });

    // --- What is seen ---

    const numbers = make("p", {});
    const loss = make("div", {});
    let now = {};
    const summary = () => `β ${beta()}: divergence ${fixed(now.kl, 2)} nats, expected reward ${fixed(now.reward, 2)}. ` +
      `Likeliest: “${answers[now.first]}” ${percent(Math.exp(now.policy[now.first]))}.`;
    const show = () => {
      const [r, b] = [rewards(), beta()];
      const policy = leashed(reference, r, b);
      const [kl, reward] = [divergence(policy, reference), mean(policy, r)];
      now = { policy, kl, reward, first: policy.indexOf(Math.max(...policy)) };
      leash.put(b);
      rows.forEach(({ reward: one, fill, own, share }, n) => {
        one.put(r[n]);
        fill.style.width = `${(100 * Math.exp(policy[n])).toFixed(2)}%`;
        own.style.width = `${(100 * Math.exp(reference[n])).toFixed(2)}%`;
        share.textContent = percent(Math.exp(policy[n]));
      });
      const walk = [1e6, ...BETAS].map((one) => leashed(reference, r, one)).map((one) => ({ kl: divergence(one, reference), reward: mean(one, r) }));
      const far = Math.max(...walk.map((one) => one.kl), 0.01);
      const low = walk[0].reward;
      const high = Math.max(walk.at(-1).reward, low + 0.01);
      const x = (value) => PLAN.left + (PLAN.right - PLAN.left) * Math.sqrt(Math.max(value, 0) / far); // as its square root
      const y = (value) => PLAN.foot - ((PLAN.foot - PLAN.top) * (value - low)) / (high - low);
      points = walk.slice(1).map((one) => x(one.kl));
      const fine = Array.from({ length: 200 }, (_, n) => leashed(reference, r, 100 * 2500 ** (-n / 199)));
      curve.setAttribute("d", `M${[walk[0], ...fine.map((one) => ({ kl: divergence(one, reference), reward: mean(one, r) }))]
        .map((one) => `${x(Math.min(one.kl, far)).toFixed(1)} ${y(one.reward).toFixed(1)}`).join("L")}`);
      const [cx, cy] = [x(kl), y(reward)];
      here.setAttribute("cx", cx.toFixed(1));
      here.setAttribute("cy", cy.toFixed(1));
      const label = (mark, at, text, anchor) => {
        mark.textContent = text;
        for (const [name, value] of Object.entries({ x: at[0], y: at[1], "text-anchor": anchor })) mark.setAttribute(name, value);
      };
      label(marks.left, [PLAN.left, PLAN.foot + 15], "0", "middle");
      label(marks.right, [PLAN.right, PLAN.foot + 15], fixed(far, 2), "end");
      label(marks.foot, [PLAN.left - 4, PLAN.foot], fixed(low, 2), "end");
      label(marks.top, [PLAN.left - 4, PLAN.top + 8], fixed(high, 2), "end");
      drawing.setAttribute("aria-label", `Expected reward over divergence for all leashes; β ${b} is at ${fixed(kl, 2)} nats and ${fixed(reward, 2)}.`);
      numbers.textContent = `Divergence ${fixed(kl, 3)} nats, expected reward ${fixed(reward, 3)}, reward − β · divergence ${fixed(reward - b * kl, 3)}. ` +
        `A little farther, a nat would bring β = ${b} more reward.`;

      const [better, worse] = [answer("chosen", 0), answer("rejected", 1)];
      pair.chosen.put(String(better));
      pair.rejected.put(String(worse));
      const h = (n) => policy[n] - reference[n];
      const { margin, loss: cost, slope: pull } = dpo(h(better), h(worse), b);
      loss.replaceChildren(
        make("p", {}, `h⁺ = ${fixed(h(better), 3)}, h⁻ = ${fixed(h(worse), 3)}`),
        make("p", {}, `margin β(h⁺ − h⁻) = ${fixed(margin, 3)}`),
        make("p", {}, `loss −ln σ(margin) = ${fixed(cost, 3)}`),
        make("p", {}, `its derivative with respect to ln π of the preferred: ${fixed(pull, 3)}`));
    };

    assemble(el, "kl_leash", MOVING + LOOK,
      make("div", { class: "controls" }, leash.label),
      make("p", { class: "quiet" }, "Each answer, and its reward to move. Filled: the best policy on this leash; frame: the reference."),
      make("ul", { class: "answers" }, ...rows.map(({ item }) => item)),
      numbers,
      make("div", { class: "plans" },
        make("div", {}, make("p", { class: "quiet" }, "All leashes; the point is yours, and can be dragged"), drawing),
        make("div", { class: "pair" }, make("p", { class: "quiet" }, "What DPO’s loss says of this policy, on one pair"),
          pair.chosen.label, pair.rejected.label, loss)),
      make("div", { class: "buttons" }, button("Put all back", () => {
        put({ rewards: start, beta: 1, chosen: 0, rejected: 1 });
        settled();
      })),
      line,
      ...tasks("make the leash longer and longer (β smaller). Which answer wins, and when? Then give the rarest answer less reward than the first.",
        "drag β from one end to the other: two of the numbers below the pair stay what they are. Which two, and from which sliders could you have told them?"),
    );
    show();
    return listen(model, [show, "rewards", "beta", "chosen", "rejected"]);
  },
};
