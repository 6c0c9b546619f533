// A bet before something is shown.

import { button, make, nearest, setter, slider } from "./controls.js";

export const BETTING = `
.live-box .bet { margin: 0.6rem 0 0; }
@media (max-width: 36rem) { .live-box .bet label:has(> input[type="range"]) { display: block; } }
`;

/**
 * A bet on a number before the figure shows it: a slider, a button named by its `action`, which shows
 * it, and one to bet again. The state has `bet` and `shown`; `reveal()` and `hide()` are what else
 * changes there, `told()` says how the bet went.
 */
export function betting({ model, name, values, show, action, told, say, reveal = () => ({}), hide = () => ({}) }) {
  const put = setter(model);
  const bet = () => nearest(values, model.get("bet"));
  const shown = () => model.get("shown") === true;
  const guess = slider({
    name, values, show, hear: (value) => put({ bet: value }), settle: () => say(`You bet ${show(bet())}.`),
  });
  const look = button(action, () => {
    put({ ...reveal(), shown: true });
    say(told());
  });
  const again = button("Bet again", () => {
    put({ ...hide(), shown: false });
    say("Move the slider to bet again.");
  });
  const part = make("div", { class: "bet" }, guess.label, make("div", { class: "buttons" }, look, again));
  return { part, bet, shown, put: () => {
    guess.put(bet());
    [look.disabled, again.disabled] = [shown(), !shown()];
  } };
}
