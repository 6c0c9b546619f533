// The writer writes: what may come next, and what is drawn from it. State: prompt, year,
// temperature, top_k (0: off), top_p, seed, tokens (those written so far), weights, tokenizer.

import { ByteBPE } from "./models/byte_bpe.js";
import { random, sharesOf, tokenAt } from "./models/decoding.js";
import { GPT } from "./models/gpt.js";
import { ranked, softmax } from "./models/layers.js";
import { Weights } from "./models/safetensors.js";
import { bars, BARS } from "./ui/bars.js";
import {
  assemble, button, field, listen, make, nearest, percent, runner, setter, slider, status, tasks,
} from "./ui/controls.js";

const YEARS = Array.from({ length: 47 }, (_, n) => 1790 + 5 * n);
const TEMPERATURES = Array.from({ length: 20 }, (_, n) => (n + 1) / 10);
const TOP_K = [1, 2, 3, 5, 10, 20, 40, 100, 400, 0];
const TOP_P = [0.05, ...Array.from({ length: 10 }, (_, n) => (n + 1) / 10), 0.95, 0.99].sort();
const WINDOW = 256; // tokens that the writer has learned to read
const LONGEST = 150; // of the beginning
const SHOWN = 10; // bars
const PACE = 90; // milliseconds between two tokens

const LOOK = `
.writer .text { border-left: 3px solid var(--mark); margin: 0.8rem 0; padding: 0.1rem 0 0.1rem 0.8rem;
  white-space: pre-wrap; overflow-wrap: anywhere; max-height: 16em; overflow-y: auto; }
.writer .text .written:nth-child(even) { background: color-mix(in srgb, var(--mark) 14%, transparent); }
.writer .text .written:last-child { text-decoration: underline; text-underline-offset: 0.25em; }
`;

/** The writer at a text: it reads only what it has not read yet. */
class Reader {
  constructor(model) {
    this.model = model;
    this.state = model.start();
    this.read = [];
  }

  /** Token ids -> logits of what follows them. */
  logits(tokens) {
    let same = 0;
    while (same < tokens.length - 1 && tokens[same] === this.read[same]) same++;
    this.state.cache.cut(same);
    this.read = tokens;
    return this.model.decode(tokens.slice(same), this.state);
  }
}

export default {
  render({ model, el }) {
    const tokenizer = new ByteBPE(model.get("tokenizer"));
    const reader = new Reader(new GPT(Weights.read(model.get("weights"))));
    const size = tokenizer.tokens.length;
    const put = setter(model);
    const year = () => nearest(YEARS, model.get("year"));
    const knobs = () => ({
      temperature: nearest(TEMPERATURES, model.get("temperature")),
      topK: model.get("top_k") > 0 ? Math.round(model.get("top_k")) : null,
      topP: Math.min(Math.max(model.get("top_p"), 0.01), 1),
    });
    // A year is five tokens, one for each character; a word begins with its space.
    const prefix = () => [...`${year()}:`].flatMap((character) => tokenizer.encode(character));
    const begun = () => {
      const text = model.get("prompt");
      return tokenizer.encode(/^\s/.test(text) ? text : ` ${text}`).slice(-LONGEST);
    };
    const known = (id) => Number.isInteger(id) && id >= 0 && id < size;
    const written = () => model.get("tokens").filter(known).slice(0, WINDOW - 5 - begun().length);
    const room = () => WINDOW - 5 - begun().length - written().length;
    const spelled = (id) => tokenizer.decode([id]).replaceAll(" ", "·").replaceAll("\n", "⏎");

    // --- What is seen ---

    const { line, say } = status();
    const text = make("div", { class: "text", tabindex: 0, role: "group", "aria-label": "The text" });
    const left = make("p", { class: "quiet" });
    const likeliest = bars({
      name: "The likeliest tokens; choose one to go on with it", count: SHOWN, choose: (n) => goOn(order[n]),
    });
    const beginning = field({
      name: "How the speech begins", longest: 400,
      hear: (text) => {
        stop();
        put({ prompt: text, tokens: [] });
      },
    });
    const settled = () => say(`${summary()} The likeliest is “${spelled(order[0])}”.`);
    const sliders = {
      year: slider({ name: "Year", values: YEARS, hear: (value) => put({ year: value }), settle: settled }),
      temperature: slider({
        name: "Temperature", values: TEMPERATURES, show: (value) => value.toFixed(1),
        hear: (value) => put({ temperature: value }), settle: settled,
      }),
      top_k: slider({
        name: "Top-k", values: TOP_K, show: (value) => (value > 0 ? String(value) : "off"),
        hear: (value) => put({ top_k: value }), settle: settled,
      }),
      top_p: slider({
        name: "Top-p", values: TOP_P, show: (value) => (value < 1 ? value.toFixed(2) : "off"),
        hear: (value) => put({ top_p: value }), settle: settled,
      }),
    };
    const runs = runner({
      el, pace: PACE, step: () => step(), more: () => room() > 0,
      done: (count) => say(`${count} tokens were written. ${room() ? "" : "The window is full."}`),
    });
    const { stop } = runs;
    const buttons = {
      step: button("Step", () => step()),
      run: runs.button,
      back: button("Back", () => back()),
      again: button("Start again", () => (stop(), put({ tokens: [] }), say("The text is what you began."))),
      dice: button("Other random numbers", () => {
        stop();
        put({ seed: (model.get("seed") + 1) % 1000, tokens: [] });
        say(`Random numbers ${model.get("seed")}; the text is what you began.`);
      }),
    };

    // --- What happens ---

    let order = [];
    let shares = [];
    let logits = [];
    const summary = () => {
      const kept = shares.reduce((count, share) => count + (share > 0), 0);
      return `${kept.toLocaleString("en")} of ${size.toLocaleString("en")} tokens can be drawn.`;
    };
    const goOn = (token) => {
      if (room() < 1) return say(`The window of ${WINDOW} tokens is full.`);
      const share = shares[token];
      put({ tokens: [...written(), token] });
      if (!runs.running()) say(`“${spelled(token)}” was taken, ${percent(share)}. ${summary()}`);
    };
    const step = () => goOn(tokenAt(shares, random(model.get("seed"), written().length)));
    const back = () => {
      stop();
      put({ tokens: written().slice(0, -1) });
      say("One token back.");
    };
    const read = () => {
      logits = reader.logits([...prefix(), ...begun(), ...written()]);
      weigh();
    };
    const weigh = () => {
      const own = softmax(logits);
      const { topK, ...others } = knobs();
      shares = sharesOf(logits, { topK, ...others });
      order = ranked(logits);
      likeliest.put(order.slice(0, SHOWN).map((token) => (
        { token: spelled(token), share: shares[token], own: own[token] }
      )));
      left.textContent =
        `${summary()} Choose one to go on with it; · is a space. ` +
        "Filled: its share after the three knobs; frame: the writer’s own.";
      for (const name of Object.keys(sliders)) sliders[name].put(name === "year" ? year() : model.get(name));
      const taken = written();
      text.replaceChildren(
        make("span", { class: "quiet" }, `${year()}:`),
        make("b", {}, tokenizer.decode(begun())),
        make("span", {}, ...taken.map((id) => make("span", { class: "written" }, tokenizer.decode([id])))),
      );
      text.scrollTop = text.scrollHeight;
      buttons.back.disabled = buttons.again.disabled = taken.length === 0;
      buttons.step.disabled = buttons.run.disabled = room() < 1;
      beginning.put(model.get("prompt"));
    };

    assemble(el, "writer", BARS + LOOK,
      make("div", { class: "controls" }, beginning.label, sliders.year.label),
      text,
      make("div", { class: "buttons" }, ...Object.values(buttons)),
      make("div", { class: "controls" },
        sliders.temperature.label, sliders.top_k.label, sliders.top_p.label),
      left, likeliest.list, line,
      ...tasks("set top-k to 1 and press Run; then give the writer a higher temperature, and then a larger k.",
        "after “The United States have”, which is the first year at which “·been” has less than a fifth of the probability?"),
    );
    const unlisten = listen(model, [read, "prompt", "year", "tokens"], [weigh, "temperature", "top_k", "top_p"]);
    read();
    return () => {
      stop();
      unlisten();
    };
  },
};
