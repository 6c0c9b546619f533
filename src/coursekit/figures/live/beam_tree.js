// Beam search as a tree that grows, on the translator. State: sentence, beams, alpha, steps (how many
// are shown; ALL: to the end), weights, tokenizer, words.

import { beamSearch, written, wuPenalty } from "./models/beam_search.js";
import {
  ARROWS, assemble, button, draw, fixed, listen, make, runner, setter, slider, status, tasks,
} from "./ui/controls.js";
import { EXAMPLES, sentenceField, Translator } from "./ui/translator.js";

const ALL = 100;
const ALPHAS = Array.from({ length: 21 }, (_, n) => n / 10);
const PACE = 600; // milliseconds between two steps
const [ACROSS, DOWN, WIDE, HIGH] = [112, 42, 88, 34]; // from node to node, and a node

const LOOK = `
.beam_tree .tree { overflow-x: auto; border: 1px solid var(--line); border-radius: 0.3rem; margin: 0.4rem 0; }
.beam_tree svg { display: block; }
.beam_tree svg text { fill: currentColor; font-size: 13px; text-anchor: middle; pointer-events: none; }
.beam_tree svg .sum { font-size: 11px; font-variant-numeric: tabular-nums; }
.beam_tree .node { cursor: pointer; }
.beam_tree .node rect { fill: none; pointer-events: all; stroke: var(--line); stroke-dasharray: 3 3; }
.beam_tree :is(.kept, .aside) rect { fill: #56b4e9; fill-opacity: 0.35; stroke: currentColor; stroke-dasharray: none; }
.beam_tree .aside rect { fill: #009e73; }
.beam_tree .best rect { stroke: #d55e00; stroke-width: 3; }
.beam_tree .node:focus { outline: none; }
.beam_tree .node:focus-visible rect { stroke: var(--mark); stroke-width: 3; }
.beam_tree .edge { fill: none; stroke: var(--line); stroke-dasharray: 3 3; }
.beam_tree .edge:is(.kept, .aside) { stroke: currentColor; stroke-dasharray: none; }
.beam_tree .edge.best { stroke: #d55e00; stroke-width: 3; }
.beam_tree :is(th, td) { vertical-align: top; width: 4rem; }
.beam_tree :is(th, td):first-child { overflow-wrap: anywhere; text-align: left; width: auto; }
.beam_tree tr.best th { font-weight: bold; }
@media (max-width: 36rem) { .beam_tree :is(th, td):not(:first-child) { width: 3.2rem; } }
`;

/** A model that remembers what followed each text, so that a search with another α is quick. */
class Remembering {
  constructor(model) {
    Object.assign(this, { model, known: new Map() });
  }

  decode(tokens, state) {
    state.path = [...(state.path ?? []), ...tokens];
    const key = state.path.join();
    if (!this.known.has(key)) {
      const logits = this.model.decode(tokens, state);
      this.known.set(key, { logits, cache: state.cache });
    }
    const { logits, cache } = this.known.get(key);
    state.cache = cache;
    return logits;
  }
}

export default {
  render({ model, el }) {
    const translator = new Translator({
      weights: model.get("weights"), tokenizer: model.get("tokenizer"), words: model.get("words"),
    });
    const put = setter(model);
    const beams = () => Math.min(Math.max(Math.round(model.get("beams")), 1), 4);
    const alpha = () => Math.min(Math.max(model.get("alpha"), 0), 2);
    const { line, say } = status();

    let source = [];
    let decoder = null; // remembers what it has read of this source
    let first = {}; // its state before the first token
    let searching = null; // what yields the next step
    let steps = []; // those that were taken
    const search = (width) => beamSearch(decoder, [translator.start], { ...first }, {
      beams: width, longest: translator.longest(source), end: translator.end, alpha: alpha(),
    });
    const isLast = (step) => !step.candidates.some((one) => one.kept && !one.ended);
    const shown = () => {
      const asked = Math.min(Math.max(Math.round(model.get("steps")), 0), ALL);
      while (steps.length < asked && !steps.some(isLast)) steps.push(searching.next().value);
      return Math.min(asked, steps.length);
    };
    const ended = () => shown() > 0 && isLast(steps[shown() - 1]);
    const textOf = (one) => translator.textOf(written(one));
    const number = (value) => fixed(value, 2);

    // --- What can be set ---

    const stopped = (changes) => {
      runs.stop();
      put(changes);
    };
    const sentence = sentenceField((text) => {
      if (translator.read(text).length === 0) return;
      stopped({ steps: 1, sentence: text });
      say(summary());
    });
    const kept = () => (ended() ? { steps: ALL } : {}); // a search that has ended stays at its end
    const sliders = {
      beams: slider({ name: "Width", values: [1, 2, 3, 4], hear: (value) => stopped({ ...kept(), beams: value }), settle: () => say(summary()) }),
      alpha: slider({
        name: "Length penalty α", values: ALPHAS, show: (value) => value.toFixed(1),
        hear: (value) => stopped({ ...kept(), alpha: value }), settle: () => say(summary()),
      }),
    };
    const go = (n) => put({ steps: n });
    const runs = runner({
      el, pace: PACE, step: () => go(shown() + 1), more: () => !ended(), done: () => say(summary()),
    });
    const moved = (n) => {
      runs.stop();
      go(n);
      say(summary());
    };
    const buttons = {
      step: button("Step", () => moved(shown() + 1)),
      run: runs.button,
      back: button("Back", () => moved(shown() - 1)),
      again: button("Start again", () => moved(0)),
    };

    // --- The tree ---

    const kindOf = (one) => `${!one.kept ? "" : one.ended ? "aside" : "kept"} ${best.has(one) ? "best" : ""}`;
    const x = (step) => 6 + step * ACROSS;
    const y = (rank) => 6 + rank * DOWN;
    let best = new Set(); // the candidates of the best text, once the search has ended
    let nodes = []; // of each step
    let at = [0, 0]; // where the keyboard is: step and rank
    const tell = (one) => {
      const penalty = wuPenalty(one.length, alpha());
      const fate = !one.kept ? "It was dropped." : one.ended ? "It is complete." : "It goes on.";
      say(`“${textOf(one)}”${one.token === translator.end ? " and end" : ""}: log p ${number(one.sum)}, ` +
        `over ${penalty.toFixed(2)} for ${one.length} tokens is ${number(one.sum / penalty)}. ${fate}`);
    };
    const stop = ([step, rank]) => {
      nodes[at[0]]?.[at[1]]?.setAttribute("tabindex", -1);
      at = [step, rank];
      nodes[step]?.[rank]?.setAttribute("tabindex", 0);
    };
    const tree = draw("svg", {
      role: "group", "aria-label": "The tree: steps to the right, the likeliest at the top",
      onkeydown: (event) => {
        const way = ARROWS[event.key];
        if (!way) return;
        event.preventDefault();
        const step = Math.min(Math.max(at[0] + way[0], 0), nodes.length - 1);
        const rank = Math.min(Math.max(at[1] - way[1], 0), nodes[step].length - 1);
        stop([step, rank]);
        nodes[step][rank].focus();
        tell(steps[step].candidates[rank]);
      },
    });
    const scroller = make("div", { class: "tree" }, tree);
    const node = (one, step, rank) => {
      const said = translator.spelled(one.token).trim() || "␣";
      const sum = one.score === undefined ? number(one.sum) : `${number(one.sum)} → ${number(one.score)}`;
      return draw("g", {
        class: `node ${kindOf(one)}`, role: "button", tabindex: -1, "aria-label": `${said}, ${sum}, in step ${step + 1}`,
        onclick: () => (stop([step, rank]), tell(one)),
        onpointerenter: (event) => event.pointerType === "mouse" && tell(one),
      },
        draw("rect", { x: x(step + 0.6), y: y(rank), width: WIDE, height: HIGH, rx: 4 }),
        draw("text", { x: x(step + 0.6) + WIDE / 2, y: y(rank) + 15 }, said),
        draw("text", { class: "sum", x: x(step + 0.6) + WIDE / 2, y: y(rank) + 28 }, sum));
    };
    const edge = (one, step, rank) => {
      const [right, from] = step === 0 ? [x(0) + 44, 0] : [x(step - 0.4) + WIDE, steps[step - 1].candidates.indexOf(one.parent)];
      const [a, b, left] = [y(from) + HIGH / 2, y(rank) + HIGH / 2, x(step + 0.6)];
      const middle = (right + left) / 2;
      return draw("path", { class: `edge ${kindOf(one)}`, d: `M${right} ${a}C${middle} ${a} ${middle} ${b} ${left} ${b}` });
    };
    const grow = () => {
      const some = steps.slice(0, shown());
      best = new Set();
      if (ended()) for (let one = steps.at(-1).complete[0]; one.parent; one = one.parent) best.add(one);
      const each = (draws) => some.map(({ candidates }, step) => candidates.map((one, rank) => draws(one, step, rank)));
      nodes = each(node);
      const [width, height] = [x(some.length + 0.6), y(2 * beams())];
      for (const [name, value] of Object.entries({ width, height })) tree.setAttribute(name, value);
      tree.replaceChildren(...each(edge).flat(), draw("text", { x: x(0) + 22, y: y(0) + 22 }, "start"), ...nodes.flat());
      if (nodes.length > 0) stop([nodes.length - 1, 0]);
      scroller.scrollLeft = width;
    };

    // --- The texts ---

    const words = make("p", { class: "quiet words" });
    const body = make("tbody");
    const table = make("table", {},
      make("thead", {}, make("tr", {}, ...["Text", "log p", "tokens", "score"].map((name) => make("th", { scope: "col" }, name)))),
      body);
    const row = (one, marks, text) => make("tr", { class: marks }, make("th", { scope: "row" }, text), ...(one
      ? [number(one.sum), String(one.length), number(one.sum / wuPenalty(one.length, alpha()))] : ["", "", ""]
    ).map((value) => make("td", {}, value)));
    const list = () => {
      const { candidates, complete } = steps[shown() - 1] ?? { candidates: [], complete: [] };
      const running = candidates.filter((one) => !one.ended);
      const fate = ended() ? "given up" : "running";
      body.replaceChildren(...Array.from({ length: 2 * beams() }, (_, n) => {
        const aside = n < beams();
        const one = aside ? complete[n] : running[n - beams()];
        return row(one, ended() && n === 0 ? "best" : "", `${aside ? "complete" : fate}: ${one ? textOf(one) : "–"}`);
      }));
    };
    const summary = () => {
      if (shown() === 0) return "Nothing is written yet.";
      const { candidates, complete } = steps[shown() - 1];
      if (ended()) {
        const [greedy] = [...search(1)].at(-1).complete;
        const same = textOf(greedy) === textOf(complete[0]);
        return `After ${shown()} steps “${textOf(complete[0])}” is the best, ${number(complete[0].score)}. ` +
          (same ? "Greedy writing writes the same." : `Greedy writing gives “${textOf(greedy)}”, ${number(greedy.score)}.`);
      }
      const goOn = candidates.filter((one) => one.kept && !one.ended).map((one) => `“${textOf(one)}”`);
      const aside = candidates.filter((one) => one.kept && one.ended).length;
      return `Step ${shown()}: ${goOn.join(", ")} go${goOn.length === 1 ? "es" : ""} on` +
        (aside ? `; ${aside} ${aside === 1 ? "is" : "are"} put aside.` : ".");
    };

    const show = () => {
      grow();
      list();
      for (const name of ["step", "run"]) buttons[name].disabled = ended();
      for (const name of ["back", "again"]) buttons[name].disabled = shown() === 0;
    };
    const find = () => {
      searching = search(beams());
      steps = [];
      sliders.beams.put(beams());
      sliders.alpha.put(alpha());
      show();
    };
    const read = () => {
      const text = model.get("sentence");
      source = translator.read(text).length ? translator.read(text) : translator.read(EXAMPLES[0]);
      decoder = new Remembering(translator.model);
      first = translator.model.start(source);
      sentence.put(text);
      words.textContent = translator.judged(text);
      find();
    };

    assemble(el, "beam_tree", LOOK,
      make("div", { class: "controls" }, sentence.label, sentence.ready), words,
      make("div", { class: "controls" }, sliders.beams.label, sliders.alpha.label),
      make("div", { class: "buttons" }, ...Object.values(buttons)),
      scroller, line, table,
      make("p", { class: "quiet" }, "Blue goes on, green is complete, dashed is dropped; orange: the best text. Below a token stands the sum of the " +
        "logarithms, log p. The score is log p over ((5 + tokens) / 6) to the power of α."),
      ...tasks("press Run, and see where the best text nearly got lost. Width 1 is greedy writing.",
        "greedy writing says “le serviteur” twice in “The king saw the servant.” Width 2 does not. From which α on does it say so again?"),
    );
    const unlisten = listen(model, [read, "sentence"], [find, "beams", "alpha"], [show, "steps"]);
    read();
    say(summary());
    return () => {
      runs.stop();
      unlisten();
    };
  },
};
