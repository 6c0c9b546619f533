// Takes answers in the page. A question, or a game, is complete without it: this adds a field or
// buttons, says what is wrong with a wrong answer, and remembers in this browser, and nowhere else,
// what was right.
document.addEventListener("DOMContentLoaded", () => {
  const all = [...document.querySelectorAll("article .ask")];
  if (!all.length) return;
  const KEY = "course-answers";
  const read = () => {
    try {
      return JSON.parse(localStorage.getItem(KEY)) ?? {};
    } catch {
      return {};
    }
  };
  const write = (answers) => {
    try {
      localStorage.setItem(KEY, JSON.stringify(answers));
    } catch {} // a browser may forbid it; then nothing is remembered
  };
  const make = (tag, about = {}, ...inside) => {
    const made = Object.assign(document.createElement(tag), about);
    made.append(...inside);
    return made;
  };

  const number = (text) => {
    let plain = text.replace(/\s|%$/g, "").replace(/−/g, "-");
    plain = /^-?\d{1,3}(,\d{3})+(\.\d+)?$/.test(plain) ? plain.replaceAll(",", "") : plain.replace(",", ".");
    const [, upper, lower = "1"] = plain.match(/^(-?[\d.]+(?:e-?\d+)?)(?:\/([\d.]+))?$/i) ?? [];
    return upper === undefined ? NaN : Number(upper) / Number(lower);
  };
  const sides = (text) => (/^[\s()[\],×x\d]*$/i.test(text) ? (text.match(/\d+/g) ?? []).map(Number) : null);

  // Each returns [right, what to say].
  const judges = {
    number({ value, within, replies }, text) {
      const given = number(text);
      if (!Number.isFinite(given)) return [false, "Type a number, such as 0.25, 1/4 or 1,024."];
      if (Math.abs(given - value) <= within + 1e-12) return [true, ""];
      for (const [wrong, reply] of Object.entries(replies)) {
        if (Math.abs(given - number(wrong)) <= Math.max(within, 1e-9)) return [false, reply];
      }
      return [false, given < value ? "Not yet: it is more than that." : "Not yet: it is less than that."];
    },
    shape({ answer, replies }, text) {
      const [given, right] = [sides(text), sides(answer)];
      if (!given?.length) return [false, "Type a shape, such as (2, 8, 10)."];
      const same = (other) => String(given) === String(other);
      if (same(right)) return [true, ""];
      for (const [wrong, reply] of Object.entries(replies)) if (same(sides(wrong))) return [false, reply];
      if (given.length !== right.length) return [false, `Not yet: it has ${right.length} axes, and yours ${given.length}.`];
      const place = given.findIndex((side, n) => side !== right[n]) + 1;
      return [false, `Not yet: look at axis ${place}.`];
    },
    choice: ({ answer, replies }, text) => (text === answer ? [true, ""] : [false, replies[text]]),
  };

  const first = all[0].closest("section");
  const bar = make("p", { className: "ask-progress" });
  const count = () => {
    const answers = read();
    const here = all.filter((one) => answers[one.id]).length;
    const forget = make("button", { type: "button", textContent: "forget my answers" });
    forget.addEventListener("click", () => {
      write({});
      for (const one of all) one.classList.remove("answered");
      count();
      bar.tabIndex = -1;
      bar.focus();
    });
    bar.replaceChildren(`${here} of ${all.length} answered. Only this browser knows. `);
    if (Object.keys(answers).length) bar.append(forget);
  };

  for (const one of all) {
    const about = JSON.parse(one.querySelector("script").textContent);
    const fold = one.querySelector("details");
    const said = make("p", { className: "ask-said" });
    said.setAttribute("role", "status");
    const answer = (text) => {
      const [right, reply] = judges[about.kind](about, text);
      said.textContent = right ? "Right." : reply;
      one.classList.toggle("answered", right || one.classList.contains("answered"));
      if (!right) return right;
      write({ ...read(), [one.id]: 1 });
      fold.open = true;
      count();
      return right;
    };
    if (about.kind === "choice") {
      const texts = [about.answer, ...Object.keys(about.replies)].sort((a, b) => (a < b ? -1 : 1));
      [...one.querySelectorAll(":scope > ul:last-of-type > li")].forEach((item, n) => {
        const words = [...item.childNodes].filter((node) => !node.matches?.("[class*=highlight]")); // no code
        const button = make("button", { type: "button" }, ...words);
        button.querySelectorAll("a").forEach((link) => link.replaceWith(...link.childNodes)); // it is pressed
        button.addEventListener("click", () => (button.dataset.right = answer(texts[n])));
        item.prepend(button);
      });
      fold.before(said);
    } else {
      const field = make("input", { type: "text", autocomplete: "off", spellcheck: false });
      const label = make("label", {}, about.kind === "shape" ? "Shape " : "Your answer ", field);
      const form = make("form", { className: "ask-form" }, label, make("button", { textContent: "Check" }));
      form.addEventListener("submit", (event) => {
        event.preventDefault();
        if (field.value.trim()) answer(field.value);
      });
      fold.before(form, said);
    }
    one.classList.toggle("answered", Boolean(read()[one.id]));
  }
  (first.querySelector(":scope > :is(h1, h2, h3)") ?? all[0]).after(bar);
  count();
});
