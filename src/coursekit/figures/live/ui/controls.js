// What live figures are made of: elements, sliders, a line that a screen reader says aloud, a style
// in the colours of the page.

const SVG = "http://www.w3.org/2000/svg";

/** An element with attributes, listeners (`onclick`) and children. */
export function make(tag, attributes = {}, ...children) {
  return filled(document.createElement(tag), attributes, children);
}

/** The same, of a drawing. */
export function draw(tag, attributes = {}, ...children) {
  return filled(document.createElementNS(SVG, tag), attributes, children);
}

function filled(element, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) {
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else element.setAttribute(name, value);
  }
  element.append(...children);
  return element;
}

/** The one of some numbers that is nearest to another. */
export const nearest = (values, wanted) =>
  values.reduce((best, one) => (Math.abs(one - wanted) < Math.abs(best - wanted) ? one : best));

/**
 * A slider with its name and its value in words. `values` are what it can be, `show` writes one;
 * `hear` is called while it moves, `settle` when it has moved.
 */
export function slider({ name, values, show = String, hear, settle = () => {} }) {
  const input = make("input", {
    type: "range", min: 0, max: values.length - 1, step: 1,
    oninput: () => hear(values[input.value]),
    onchange: () => settle(),
  });
  const said = make("span", { class: "value" });
  const label = make("label", {}, make("span", {}, name, " ", said), input);
  const put = (value) => {
    input.value = values.indexOf(nearest(values, value));
    said.textContent = show(value);
    input.setAttribute("aria-valuetext", show(value));
  };
  return { label, put };
}

/** A list of names of which one is chosen. */
export function choice({ name, options, hear }) {
  const select = make("select", { onchange: () => hear(select.value) });
  for (const [value, text] of Object.entries(options)) select.append(make("option", { value }, text));
  const label = make("label", {}, make("span", {}, name), select);
  return { label, put: (value) => (select.value = value) };
}

/** A line of text to be written; `examples` can be chosen in its place. */
export function field({ name, longest, hear, examples = [] }) {
  const input = make("input", {
    type: "text", maxlength: longest, autocomplete: "off", autocapitalize: "off", spellcheck: "false",
    oninput: () => hear(input.value),
  });
  const label = make("label", {}, make("span", {}, name), input);
  const options = { "": "your own", ...Object.fromEntries(examples.map((text) => [text, text])) };
  const ready = choice({ name: "Or one of these", options, hear: (text) => text && hear(text) });
  const put = (text) => {
    if (input.value !== text) input.value = text;
    ready.put(examples.includes(text) ? text : "");
  };
  return { label, ready: ready.label, put };
}

/**
 * Things side by side of which one is chosen: one stop of the Tab key, arrow keys go from one to
 * the next and choose it. `name` says what they are; `choose` is called with a number.
 */
export function oneOf({ name, choose, group = make("div", { role: "group", "aria-label": name }) }) {
  let items = [];
  let at = 0;
  const go = (n) => {
    if (!items[n]) return;
    items[n].focus();
    choose(n);
  };
  group.addEventListener("keydown", (event) => {
    const way = ARROWS[event.key];
    if (!way) return;
    event.preventDefault();
    go(at + way[0] - way[1]);
  });
  group.addEventListener("click", (event) => {
    const n = items.findIndex((item) => item.contains(event.target));
    if (n >= 0) choose(n);
  });
  const put = (n) => {
    at = Math.min(Math.max(n, 0), items.length - 1);
    items.forEach((item, k) => item.setAttribute("tabindex", k === at ? 0 : -1));
  };
  const fill = (others, n = 0) => {
    const held = items.includes(document.activeElement);
    group.replaceChildren(...(items = others));
    put(n);
    if (held) items[at]?.focus();
  };
  return { group, put, fill };
}

/** A line that a screen reader says when it changes. */
export function status() {
  const line = make("p", { role: "status", class: "said" });
  return { line, say: (text) => (line.textContent = text) };
}

/** What is pressed. */
export const button = (name, onclick) => make("button", { type: "button", onclick }, name);

/**
 * A button that goes on, a step each `pace` milliseconds, while there are `more` and until it is
 * pressed again; at once for whoever wants no motion. `done` is called with the number of steps.
 */
export function runner({ el, pace, step, more, done }) {
  let running = false;
  const stop = () => {
    running = false;
    pressed.textContent = "Run";
  };
  const run = async () => {
    const calm = matchMedia("(prefers-reduced-motion: reduce)").matches;
    let count = 0;
    running = true;
    pressed.textContent = "Stop";
    for (; running && more() && el.isConnected; count++) {
      step();
      await new Promise((passed) => setTimeout(passed, calm ? 0 : pace));
    }
    stop();
    done(count);
  };
  const pressed = button("Run", () => (running ? stop() : run()));
  return { button: pressed, stop, running: () => running };
}

/** What to do with a figure, and what to find out from it. */
export const tasks = (attempt, question) => [
  make("p", {}, make("b", {}, "Try: "), attempt),
  make("p", {}, make("b", {}, "Find out: "), question),
];

/** The keys that move something, each with its way to the right and up. */
export const ARROWS = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, 1], ArrowDown: [0, -1] };

/** Where a pointer is in a drawing, as the drawing counts. */
export function pointIn(svg, event) {
  const point = new DOMPoint(event.clientX, event.clientY);
  return point.matrixTransform(svg.getScreenCTM().inverse());
}

/** A function that changes several things of the state at once. */
export const setter = (model) => (changes) => {
  for (const [name, value] of Object.entries(changes)) model.set(name, value);
  model.save_changes();
};

/** Call each function when one of its names in the state changes; what is returned ends that. */
export function listen(model, ...listeners) {
  const all = listeners.flatMap(([f, ...names]) => names.map((name) => [`change:${name}`, f]));
  for (const [event, f] of all) model.on(event, f);
  return () => all.forEach(([event, f]) => model.off(event, f));
}

/** Put a figure into its place: its style, and its parts from top to bottom. */
export const assemble = (el, name, look, ...parts) => el.replaceChildren(
  make("style", {}, STYLE + look), make("div", { class: `live-box ${name}` }, ...parts));

/** The key of a curve: of the one that is set "now", with dots, or of one that is kept, with squares. */
export const curveKey = (kind) => draw("svg", { class: `key ${kind}`, viewBox: "0 0 28 12", "aria-hidden": "true" },
  draw("path", { class: "curve", d: "M0 6H28" }),
  kind === "now" ? draw("circle", { cx: 14, cy: 6, r: 4 }) : draw("rect", { x: 10, y: 2, width: 8, height: 8 }));

/** Numbers as the book writes them. */
export const minus = (text) => String(text).replace("-", "−");
export const fixed = (value, digits) => minus(value.toFixed(digits)).replace(/^−(0(\.0*)?)$/, "$1");
export const percent = (share) =>
  share === 0 ? "0%" : share < 0.0005 ? "<0.1%" : `${(100 * share).toFixed(1)}%`;

const STYLE = `
.live-box { --line: var(--pst-color-border, #8888); --quiet: var(--pst-color-text-muted, inherit);
  --mark: var(--pst-color-link, #0b57c0); --ground: var(--pst-color-surface, transparent);
  border: 1px solid var(--line); border-radius: 0.4rem; padding: 0.8rem 1rem; text-align: left;
  font-size: 0.95rem; line-height: 1.5; }
.live-box p { margin: 0.5rem 0; }
.live-box .controls { display: grid; gap: 0.4rem 1.2rem;
  grid-template-columns: repeat(auto-fit, minmax(10rem, 1fr)); }
.live-box label { display: block; margin: 0; }
.live-box label > span { display: flex; justify-content: space-between; gap: 0.5rem; }
.live-box .value { font-variant-numeric: tabular-nums; }
.live-box input[type="range"], .live-box input[type="text"], .live-box select { width: 100%;
  box-sizing: border-box; margin: 0; min-height: 1.9rem; font: inherit; accent-color: var(--mark); }
.live-box input[type="text"], .live-box select { background: var(--pst-color-background, Field);
  color: inherit; border: 1px solid var(--quiet); border-radius: 0.25rem; padding: 0.15rem 0.4rem; }
.live-box .buttons { display: flex; flex-wrap: wrap; gap: 0.5rem; margin: 0.6rem 0; }
.live-box .buttons button { background: var(--ground); color: inherit; font: inherit;
  border: 1px solid var(--quiet); border-radius: 0.3rem; padding: 0.25rem 0.8rem; min-height: 2.2rem;
  cursor: pointer; }
.live-box .buttons button:hover:not(:disabled) { border-color: var(--mark); }
.live-box .chips { display: flex; flex-wrap: wrap; row-gap: 0.3rem; margin: 0.2rem 0 0.6rem; }
.live-box .chip { background: color-mix(in srgb, var(--mark) var(--share, 0%), transparent);
  border: 1px solid var(--line); border-radius: 0.25rem; color: inherit; cursor: pointer; font: inherit;
  line-height: 1.25; min-height: 1.9rem; min-width: 1.5rem; padding: 0.1rem 0.3rem; text-align: center; }
.live-box .chip.ends { margin-right: 0.35rem; }
.live-box .chip[aria-pressed="true"] { border-color: currentColor; box-shadow: inset 0 0 0 1px currentColor; }
.live-box .chip small { display: block; font-size: 0.75rem; font-variant-numeric: tabular-nums;
  font-weight: normal; min-height: 1.25em; }
.live-box button:disabled { opacity: 0.5; cursor: default; }
.live-box :focus-visible { outline: 2px solid var(--mark); outline-offset: 2px; }
.live-box table { border-collapse: collapse; font-variant-numeric: tabular-nums; margin: 0.6rem 0 0; width: 100%; }
.live-box :is(th, td) { border-bottom: 1px solid var(--line); font-weight: normal; padding: 0.15rem 0.3rem; text-align: right; }
.live-box .sum :is(th, td) { border-bottom: 0; font-weight: bold; }
.live-box .key { display: inline-block; height: 0.8em; margin-right: 0.35em; overflow: visible; width: 1.7em; }
.live-box .quiet, .live-box .said { color: var(--quiet); font-size: 0.9rem; }
.live-box .said { min-height: 1.5em; }
@media (max-width: 36rem) {
  .live-box { padding: 0.6rem 0.7rem; }
  .live-box label:has(> input[type="range"]) { align-items: center; display: grid;
    gap: 0.8rem; grid-template-columns: 9rem 1fr; }
}
`;
