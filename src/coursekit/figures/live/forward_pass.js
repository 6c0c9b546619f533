// A sentence flows through the writer: every step of a forward pass as a box, of which one is open,
// with the numbers of one token in one block and head. State: sentence, token (which one is
// followed; 0: the last), block, head, box, code (of each box the line that computes it), weights,
// tokenizer.

import { ByteBPE } from "./models/byte_bpe.js";
import { GPT } from "./models/gpt.js";
import { causal, masked, ranked, softmax } from "./models/layers.js";
import { Weights } from "./models/safetensors.js";
import { bars, BARS } from "./ui/bars.js";
import {
  assemble, field, fixed, listen, make, oneOf, percent, setter, slider, status, tasks,
} from "./ui/controls.js";
import { heat, HEAT, largest, numbers } from "./ui/heat.js";

const YEAR = "1900:";
const LONGEST = 24; // tokens of the sentence
const SHOWN = 8; // bars
const EXAMPLES = ["The people of the United", "We must protect the rights of our", "I ask the Congress for money to build"];

const LOOK = `
.forward_pass .chips { margin-top: 0.5rem; }
.forward_pass .machine { display: grid; gap: 0.4rem 1.2rem; grid-template-columns: minmax(13rem, 2fr) 3fr; margin-top: 0.4rem; align-items: start; }
.forward_pass .flow { display: block; }
.forward_pass .flow button { align-items: center; background: none; border: 1px solid var(--line); border-radius: 0.3rem;
  color: inherit; cursor: pointer; display: grid; font: inherit; font-size: 0.85rem; gap: 0.5rem; grid-template-columns: 8.2rem 1fr;
  line-height: 1.2; margin: 0 0 0.2rem; min-height: 1.85rem; padding: 0.1rem 0.5rem; text-align: left; width: 100%; }
.forward_pass .flow button[aria-pressed="true"] { border-color: currentColor; box-shadow: inset 0 0 0 1px currentColor; font-weight: bold; }
.forward_pass .flow button:hover { border-color: var(--mark); }
.forward_pass .flow .in { border-left: 5px solid var(--mark); }
.forward_pass .flow canvas { height: 0.8rem; }
.forward_pass .flow .word { overflow: hidden; text-align: right; text-overflow: ellipsis; white-space: nowrap; }
.forward_pass .open { min-width: 0; }
.forward_pass .open .title { font-size: 1.05rem; font-weight: bold; margin: 0 0 0.3rem; }
.forward_pass .open p { margin: 0.3rem 0; }
.forward_pass .open pre { background: var(--ground); border: 1px solid var(--line); border-radius: 0.25rem; font-size: 0.78rem; line-height: 1.4;
  margin: 0.5rem 0; overflow-x: auto; padding: 0.3rem 0.5rem; white-space: pre-wrap; }
.forward_pass .open table { font-size: 0.85rem; margin: 0.3rem 0; }
.forward_pass .open :is(td, th) { line-height: 1.35; padding: 0.1rem 0.3rem; }
.forward_pass .open :is(td, th):first-child { text-align: left; }
.forward_pass .open .scroll { max-height: 17rem; overflow: auto; }
.forward_pass .open .map { border: 1px solid var(--line); max-width: 11rem; position: relative; }
.forward_pass .open .map .at { border: 2px solid var(--mark); box-sizing: border-box; left: 0; position: absolute; width: 100%; }
.forward_pass .open .strip canvas { height: 0.9rem; }
.forward_pass .open .leads:empty { display: none; }
@media (max-width: 36rem) {
  .forward_pass .machine { display: flex; flex-direction: column; align-items: stretch; gap: 0; }
  .forward_pass .flow { display: contents; } /* the open box comes behind its step */
  .forward_pass .open { border-left: 5px solid var(--line); margin: 0.2rem 0 0.8rem; padding-left: 0.6rem; }
}
`;

const length = (vector) => Math.sqrt(vector.reduce((sum, value) => sum + value * value, 0));

export default {
  render({ model, el }) {
    const tokenizer = new ByteBPE(model.get("tokenizer"));
    const gpt = new GPT(Weights.read(model.get("weights")));
    const { depth, heads, width } = gpt.config;
    const wide = width / heads;
    const begun = [...YEAR].flatMap((character) => tokenizer.encode(character));
    const put = setter(model);
    const inside = (value, size) => Math.min(Math.max(Math.round(value), 1), size) - 1;
    const { line, say } = status();

    let ids = [];
    let values = {};
    const spelled = (id) => tokenizer.decode([id]).replaceAll("\n", "⏎").trim() || "␣";
    const named = (n) => `“${spelled(ids[n])}”`;
    const at = () => (model.get("token") > 0 ? inside(model.get("token"), ids.length) : ids.length - 1);
    const block = () => inside(model.get("block"), depth);
    const head = () => inside(model.get("head"), heads);

    /** What the block has noted for the token that is followed, in the head that is looked at. */
    const noted = (name) => values[`${block()}.${name}`];
    const own = (name) => noted(name)[head()][at()];
    const before = () => (block() > 0 ? values[`${block() - 1}.feed.stream`] : values.embedding)[at()];

    // --- What an open box shows ---

    const text = (...parts) => make("p", {}, ...parts);
    const strip = (vector, name, most) => [
      text(name, ` Its length is ${fixed(length(vector), 1)}.`), make("div", { class: "strip" }, heat([vector], most))];
    const sum = (old, change, total, who) => {
      const most = largest([old, change, total]);
      return [...strip(old, "The stream before.", most), ...strip(change, `What ${who} adds.`, most),
        ...strip(total, "Their sum, which goes on.", most), numbers(total, "The sum", most)];
    };
    const table = (titles, rows) => make("div", { class: "scroll", tabindex: 0, role: "group", "aria-label": titles.join(", ") },
      make("table", {}, make("tr", {}, ...titles.map((title) => make("th", {}, title))),
        ...rows.map((row) => make("tr", {}, ...row.map((cell) => make("td", {}, cell))))));
    const keys = (titles, row) => table(titles, ids.map((_, s) => [spelled(ids[s]), ...row(s)]));
    const map = (rows) => {
      const mark = make("div", { class: "at", style: `height: ${100 / rows.length}%; top: ${(100 * at()) / rows.length}%` });
      const picture = heat(rows);
      picture.style.aspectRatio = "1";
      return [make("p", { class: "quiet" }, "All tokens, queries downwards, keys to the right; the frame is the query that you follow:"),
        make("div", { class: "map" }, picture, mark)];
    };
    const guesses = bars({
      name: "The likeliest tokens; choose one to go on with it", count: SHOWN, choose: (n) => goOn(best[n]),
    });
    let best = [];

    // --- The boxes: name, whether it is in each block or each head, what it shows, closed and open ---

    const BOXES = {
      tokens: { name: "Token", word: () => spelled(ids[at()]), open: () => [
        text(`Text becomes numbers: of ${tokenizer.tokens.length.toLocaleString("en")} tokens this is number `,
          make("b", {}, String(ids[at()])), `. The year in front is ${begun.length} tokens, for the writer has learned with a year.`),
        table(["token", "number", "position"], ids.map((id, n) => [spelled(id), id, n]))] },
      embedding: { name: "Embedding", strip: () => [values.embedding[at()]], open: () => [
        text(`Row ${ids[at()]} of the token table: a vector of ${width} numbers, the same wherever the token stands. It is the beginning of the token’s stream.`),
        numbers(values.embedding[at()], "The token’s vector")] },
      norm: { name: "Norm", part: "block", strip: () => [noted("self.read")[at()]], open: () => [
        text(`The attention of block ${block() + 1} reads a normalised copy of the stream; the stream itself goes on as it was.`),
        numbers(noted("self.read")[at()], "The normalised copy")] },
      qkv: { name: "q, k, v", part: "head", strip: () => [Float32Array.from(["q", "k", "v"].flatMap((one) => [...own(`self.${one}`)]))], open: () => [
        text(`Three matrices make of the copy a query, a key and a value, ${wide} numbers each in head ${head() + 1}.`),
        ...["query q", "key k", "value v"].flatMap((name) => [text(name), numbers(own(`self.${name.at(-1)}`), name)])] },
      turn: { name: "Position", part: "head", strip: () => [Float32Array.from([...own("self.turned q"), ...own("self.turned k")])], open: () => [
        text(`Query and key are turned, pair by pair, by an angle that grows with the position, here ${at()}. The first pair turns by ${at()} radians, each later one more slowly. The value is not turned.`),
        text("q, turned"), numbers(own("self.turned q"), "The turned query"), text("k, turned"), numbers(own("self.turned k"), "The turned key")] },
      scores: { name: "Scores", part: "head", strip: () => [own("self.scores")], open: () => [
        text(`The query of ${named(at())} meets every key: dot product, divided by √${wide}.`),
        keys(["key", "q · k", `q · k / √${wide}`], (s) => [fixed(own("self.scores")[s] * Math.sqrt(wide), 2), fixed(own("self.scores")[s], 2)]),
        ...map(noted("self.scores")[head()])] },
      mask: { name: "Mask", part: "head", strip: () => [own("self.scores").map((_, s) => (s <= at() ? 1 : 0))], open: () => [
        text(`${named(at())} may look at itself and at what is before it. To all that comes later the score becomes −∞.`),
        keys(["key", "score", "after the mask"], (s) => [fixed(own("self.scores")[s], 2), s <= at() ? fixed(own("self.scores")[s], 2) : "−∞"]),
        ...map(masked(noted("self.scores")[head()], causal(ids.length)))] },
      shares: { name: "Shares", part: "head", strip: () => [own("self.weights")], open: () => [
        text("A softmax makes shares of the scores; together they are 1, and where −∞ stood there is 0."),
        keys(["key", "score", "share"], (s) => [s <= at() ? fixed(own("self.scores")[s], 2) : "−∞", fixed(own("self.weights")[s], 3)]),
        ...map(noted("self.weights")[head()])] },
      mixed: { name: "Mixed values", part: "head", strip: () => [own("self.means")], open: () => {
        const first = ranked(own("self.weights")).slice(0, 3).filter((s) => s <= at());
        return [text(`Each value times its share, and all of it added: `,
          first.map((s) => `${percent(own("self.weights")[s])} of the value of ${named(s)}`).join(", "),
          first.length <= at() ? " and so on." : "."),
          numbers(own("self.means"), "The mixed value")];
      } },
      attended: { name: "+ attention", part: "block", strip: () => [noted("self.stream")[at()]], open: () => [
        text(`The ${heads} heads stand side by side, ${heads} · ${wide} = ${width} numbers; one more matrix mixes them, and the result is added to the stream.`),
        ...sum(before(), noted("self.change")[at()], noted("self.stream")[at()], "attention")] },
      read: { name: "Norm", part: "block", strip: () => [noted("feed.read")[at()]], open: () => [
        text("The feed-forward network, too, reads a normalised copy."), numbers(noted("feed.read")[at()], "The normalised copy")] },
      hidden: { name: "Feed-forward", part: "block", strip: () => [noted("feed.hidden")[at()]], open: () => {
        const inner = noted("feed.hidden")[at()];
        const open = inner.reduce((count, value) => count + (value > 0), 0);
        return [text(`Each token by itself: ${width} numbers become ${inner.length}, GELU leaves hardly anything of those below zero `,
          `(${open} are above), and a second matrix makes ${width} of them again.`), numbers(inner, "The hidden layer")];
      } },
      fed: { name: "+ feed-forward", part: "block", strip: () => [noted("feed.stream")[at()]], open: () => [
        text(`What the network makes is added to the stream. ${block() + 1 < depth ? `It goes on to block ${block() + 2}.` : "This was the last block."}`),
        ...sum(noted("self.stream")[at()], noted("feed.change")[at()], noted("feed.stream")[at()], "the network")] },
      final: { name: "Last norm", strip: () => [values.final[at()]], open: () => [
        text(`After block ${depth} a last norm. This is what the token’s stream says about the next token.`),
        numbers(values.final[at()], "The normalised stream")] },
      next: { name: "Next token", word: () => `${spelled(best[0])} ${percent(shares[best[0]])}`, open: () => [
        text(`The dot product with each of the ${tokenizer.tokens.length.toLocaleString("en")} rows of the token table, and a softmax: what may follow ${named(at())}. `,
          "Choose one to go on with it from here."), guesses.list,
        text(`The score of “${spelled(best[0])}” is ${fixed(values.logits[at()][best[0]], 2)}.`)] },
    };
    const IDS = Object.keys(BOXES);
    const chosen = () => (IDS.includes(model.get("box")) ? model.get("box") : "shares");
    let shares = [];

    // --- What can be set ---

    const sentence = field({
      name: `What follows “${YEAR}”`, longest: 200, examples: EXAMPLES,
      hear: (typed) => put({ token: 0, sentence: typed }),
    });
    const settled = () => say(summary());
    const count = (size) => Array.from({ length: size }, (_, n) => n + 1);
    const sliders = {
      block: slider({ name: "Block", values: count(depth), hear: (value) => put({ block: value }), settle: settled }),
      head: slider({ name: "Head", values: count(heads), hear: (value) => put({ head: value }), settle: settled }),
    };
    const chips = oneOf({ name: "Tokens; choose the one to follow", choose: (n) => {
      put({ token: n + 1 === ids.length ? 0 : n + 1 });
      settled();
    } });
    chips.group.classList.add("chips");
    const flow = oneOf({ name: "Steps from token to next token; choose one to open it", choose: (n) => {
      const top = () => flow.group.children[n].getBoundingClientRect().top;
      const was = top();
      put({ box: IDS[n] });
      scrollBy({ top: top() - was, behavior: "instant" }); // where the box before it was open, above
      settled();
    } });
    flow.group.className = "flow";
    const opened = make("div", { class: "open" });
    const known = make("p", { class: "quiet" });

    // --- What is seen ---

    const titled = ({ name, part }) => name + (part ? `, block ${block() + 1}` : "") + (part === "head" ? `, head ${head() + 1}` : "");
    const summary = () => {
      return `${named(at())}: ${titled(BOXES[chosen()])}. Next comes “${spelled(best[0])}”, ${percent(shares[best[0]])}.`;
    };
    /** The links that the page has for a box: to its section, and to its code. */
    const leads = () => {
      const found = el.closest("figure")?.querySelector(`.live-leads .lead-${chosen()}`);
      return make("p", { class: "quiet leads" }, ...[...(found?.childNodes ?? [])].map((node) => node.cloneNode(true)));
    };
    const show = () => {
      shares = softmax(values.logits[at()]);
      best = ranked(shares).slice(0, SHOWN);
      guesses.put(best.map((id) => ({ token: tokenizer.decode([id]).replaceAll(" ", "·"), share: shares[id] })));
      sliders.block.put(block() + 1);
      sliders.head.put(head() + 1);
      chips.put(at());
      const looks = own("self.weights");
      [...chips.group.children].forEach((one, n) => {
        one.setAttribute("aria-pressed", n === at());
        one.style.setProperty("--share", `${(35 * looks[n]).toFixed(2)}%`);
      });
      const order = IDS.indexOf(chosen());
      opened.style.order = 2 * order + 1;
      flow.fill(IDS.map((id, n) => {
        const { name, part, strip: picture, word } = BOXES[id];
        const attributes = { class: part ? "in" : "", style: `order: ${2 * n}`, "aria-pressed": id === chosen() };
        return make("button", { type: "button", ...attributes }, name,
          picture ? heat(picture()) : make("span", { class: "word" }, word()));
      }), order);
      const code = model.get("code")[chosen()];
      opened.replaceChildren(make("p", { class: "title" }, titled(BOXES[chosen()])), ...BOXES[chosen()].open(),
        ...(code ? [make("pre", {}, make("code", {}, code))] : []), leads());
    };
    const read = () => {
      const typed = model.get("sentence");
      const tokens = tokenizer.encode(/^\s/.test(typed) || !typed ? typed : ` ${typed}`);
      ids = [...begun, ...tokens.slice(0, LONGEST)];
      values = gpt.trace(ids);
      sentence.put(typed);
      known.textContent = tokens.length > LONGEST ? `It reads the first ${LONGEST} tokens only.` : "";
      chips.fill(ids.map((id, n) => {
        const ends = n + 1 < ids.length && (/^\s/.test(tokenizer.decode([ids[n + 1]])) || n + 1 === begun.length);
        return make("button", { type: "button", class: `chip ${ends ? "ends" : ""}` }, spelled(id));
      }), at());
      show();
    };
    const goOn = (id) => {
      if (at() - begun.length + 1 >= LONGEST) return say(`It reads ${LONGEST} tokens and no more.`);
      const kept = tokenizer.decode([...ids.slice(begun.length, at() + 1), id]);
      put({ token: 0, sentence: kept.replace(/^ /, "") });
      say(`“${spelled(id)}” was taken. ${summary()}`);
    };

    assemble(el, "forward_pass", BARS + HEAT + LOOK,
      make("div", { class: "controls" }, sentence.label, sentence.ready),
      chips.group, known,
      make("div", { class: "controls" }, sliders.block.label, sliders.head.label),
      make("div", { class: "machine" }, flow.group, opened), line,
      ...tasks("follow a token in the middle, open its boxes from top to bottom, and then change a word behind it. Not one number in its boxes moves.",
        "at every token the stream is about 1 long at first, and many times as long after block 1. Which of its two sublayers has added nearly all of it?"),
    );
    read();
    return listen(model, [read, "sentence"], [show, "token", "block", "head", "box"]);
  },
};
