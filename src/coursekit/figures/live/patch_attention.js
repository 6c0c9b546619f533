// What each patch and the class token of our ViT look at, by block and head, and what becomes of the
// answer when patches are taken out. State: pictures, names, picture (from 1), block, head, query
// (0: the class token, else a patch from 1), hidden (patches from 1), press ("ask" or "take"), shown
// ("looks" or "effect"), kind (the kind of clothes that is followed; "": the likeliest), weights.

import { softmax } from "./models/layers.js";
import { Weights } from "./models/safetensors.js";
import { ViT } from "./models/vit_mae.js";
import { PATCHES, patchGrid, pictureChoice, pixelsOf } from "./patch_grid.js";
import { bars, BARS } from "./ui/bars.js";
import {
  assemble, button, choice, fixed, listen, make, oneOf, percent, setter, status, tasks,
} from "./ui/controls.js";

const PRESSES = { ask: "asks what it looks at", take: "takes it out, or puts it back" };
const SHOWS = { looks: "where the head looks", effect: "what each patch does" };
const BARS_SHOWN = 4;
const LOOKS = [0, 158, 115];
const [LESS, MORE] = [[213, 94, 0], [86, 180, 233]];

const LOOK = `
.patch_attention .panels { align-items: start; display: grid; gap: 0.4rem 1.2rem; grid-template-columns: 1fr 1fr; margin-top: 0.5rem; }
.patch_attention .panels p { margin: 0.4rem 0 0.2rem; }
.patch_attention .heads { display: grid; gap: 0.4rem; grid-template-columns: repeat(4, 1fr); }
.patch_attention .heads button { background: none; border: 1px solid var(--line); border-radius: 0.3rem; color: inherit;
  cursor: pointer; font: inherit; font-size: 0.8rem; line-height: 1.3; min-width: 0; padding: 0.2rem; }
.patch_attention .heads button[aria-pressed="true"] { border-color: currentColor; box-shadow: inset 0 0 0 1px currentColor; font-weight: bold; }
.patch_attention .heads canvas { image-rendering: pixelated; display: block; margin: 0.1rem auto; width: 100%; max-width: 4rem; border: 1px solid var(--line); }
.patch_attention .bars .token { font: inherit; }
@media (max-width: 36rem) {
  .patch_attention .panels { grid-template-columns: 1fr; }
  .patch_attention .patches { margin: 0 auto; width: 17rem; }
}
`;

export default {
  render({ model, el }) {
    const vit = new ViT(Weights.read(model.get("weights")));
    const { image: side, depth, heads: count } = vit.config;
    const rows = vit.side;
    const N = rows ** 2;
    const every = Array.from({ length: N }, (_, n) => n);
    const names = model.get("names");
    const pictures = model.get("pictures").map(pixelsOf);
    const put = setter(model);
    const inside = (value, least, most) => Math.min(Math.max(Math.round(value), least), most);
    const chosen = () => inside(model.get("picture"), 1, pictures.length) - 1;
    const hidden = () => new Set(model.get("hidden").filter((n) => Number.isInteger(n) && n > 0 && n <= N).map((n) => n - 1));
    const one = (key, of) => (Object.hasOwn(of, model.get(key)) ? model.get(key) : Object.keys(of)[0]);
    const { line, say } = status();

    let read = { visible: every, maps: [], shares: [] }; // what the ViT made of the picture
    let effects = null; // of each patch, by how much the followed share changes without it
    const query = () => {
      const asked = inside(model.get("query"), 0, N);
      return read.visible.includes(asked - 1) ? asked : 0;
    };
    const sharesOf = (visible) => softmax(vit.forward(pictures[chosen()], { visible }));
    const likeliest = () => read.shares.indexOf(Math.max(...read.shares));
    const followed = () => (names.includes(model.get("kind")) ? names.indexOf(model.get("kind")) : likeliest());
    const at = () => ({ block: inside(model.get("block"), 1, depth) - 1, head: inside(model.get("head"), 1, count) - 1 });

    // --- What can be set ---

    const pick = pictureChoice({ pictures, names, side, choose: (n) => put({ picture: n + 1, kind: "" }) });
    const press = choice({ name: "Pressing a patch", options: PRESSES, hear: (value) => put({ press: value }) });
    const shown = choice({ name: "Colour shows", options: SHOWS, hear: (value) => put({ shown: value }) });
    const grid = patchGrid({
      name: "Patches. Arrow keys move, Space presses.", side, rows,
      begin: (n) => (one("press", PRESSES) === "ask" ? "ask" : hidden().has(n) ? "back" : "take"),
      stroke: (n, act) => {
        if (act === "ask") return hidden().has(n) || put({ query: n + 1 });
        const now = hidden();
        now[act === "take" ? "add" : "delete"](n);
        put({ hidden: [...now].sort((a, b) => a - b).map((m) => m + 1) });
      },
      end: () => say(summary()),
    });
    const classShare = make("small", {});
    const classToken = make("button", { type: "button", class: "chip", onclick: () => {
      put({ query: 0 });
      say(summary());
    } }, "class token", classShare);
    const thumbs = oneOf({ name: "Heads", choose: (n) => {
      put({ block: Math.floor(n / count) + 1, head: (n % count) + 1, shown: "looks" });
      say(summary());
    } });
    thumbs.group.className = "heads";
    const heads = Array.from({ length: depth * count }, (_, n) => {
      const canvas = make("canvas", { width: rows, height: rows, "aria-hidden": "true" });
      const item = make("button", { type: "button" }, make("span", {}, `${Math.floor(n / count) + 1}.${(n % count) + 1}`), canvas);
      return { item, context: canvas.getContext("2d") };
    });
    thumbs.fill(heads.map(({ item }) => item));
    let order = [];
    const answers = bars({ name: "Its answer: the likeliest kinds; choose one to follow it", count: BARS_SHOWN,
      choose: (n) => put({ kind: names[order[n]] }) });

    // --- What is seen ---

    /** What the query gives to each patch in one head, 0 to those that are taken out; last, the class token. */
    const looksOf = ({ block, head }) => {
      const given = read.maps[block][head][query() === 0 ? 0 : 1 + read.visible.indexOf(query() - 1)];
      const shares = every.map(() => 0);
      read.visible.forEach((n, k) => (shares[n] = given[k + 1]));
      return [...shares, given[0]];
    };
    const spot = (n) => `row ${Math.floor(n / rows) + 1}, column ${(n % rows) + 1}`;
    const best = (values, many) => [...read.visible].sort((a, b) => values[b] - values[a]).slice(0, many);
    const summary = () => {
      const answer = `It says ${names[likeliest()]}, ${percent(read.shares[likeliest()])}`;
      const out = hidden().size ? `, with ${hidden().size} of ${N} patches taken out` : "";
      if (one("shown", SHOWS) === "effect") {
        if (!effects) return `${answer}${out}. Each patch is being taken out in turn …`;
        const worst = [...read.visible].sort((a, b) => effects[a] - effects[b])[0];
        if (worst === undefined) return `${answer}${out}.`;
        const left = percent(read.shares[followed()] + effects[worst]);
        return `${answer}${out}. “${names[followed()]}” has least, ${left}, without ${spot(worst)}.`;
      }
      const looks = looksOf(at());
      const list = best(looks, 3).map((n) => `${spot(n)} (${percent(looks[n])})`).join("; ");
      const who = query() === 0 ? "the class token" : spot(query() - 1);
      return `${answer}${out}. Block ${at().block + 1}, head ${at().head + 1}: ${who} gives ${percent(looks[N])} to ${query() === 0 ? "itself" : "the class token"}` +
        `${list ? `, and of the patches most to ${list}` : ""}.`;
    };
    const colour = ([red, green, blue], part) => `rgb(${red} ${green} ${blue} / ${(0.85 * part).toFixed(3)})`;
    const paint = () => {
      const looks = looksOf(at());
      const effect = one("shown", SHOWS) === "effect";
      const most = effect ? Math.max(...(effects ?? [0]).map(Math.abs)) : Math.max(...looks.slice(0, N));
      const out = hidden();
      const tint = (n) => {
        if (out.has(n) || !(most > 0)) return "";
        if (!effect) return colour(LOOKS, looks[n] / most);
        return effects ? colour(effects[n] < 0 ? LESS : MORE, Math.abs(effects[n]) / most) : "";
      };
      const told = (n) => (out.has(n) ? ", taken out" : effect ? (effects ? `, ${fixed(100 * effects[n], 1)} points` : "") : `, ${percent(looks[n])}`);
      const gone = pictures[chosen()].slice();
      for (const n of out) for (let i = 0; i < vit.config.patch ** 2; i++) gone[vit.place(n, i)] = NaN;
      grid.put(gone, every.map((n) => (
        { told: told(n), pressed: query() === n + 1, asked: query() === n + 1, colour: tint(n) }
      )));
      classToken.setAttribute("aria-pressed", query() === 0);
      classShare.textContent = percent(looks[N]);
    };
    const choose = () => {
      press.put(one("press", PRESSES));
      shown.put(one("shown", SHOWS));
      const here = at().block * count + at().head;
      thumbs.put(here);
      heads.forEach(({ item, context }, n) => {
        item.setAttribute("aria-pressed", n === here);
        const looks = looksOf({ block: Math.floor(n / count), head: n % count }).slice(0, N);
        const pixels = context.createImageData(rows, rows);
        looks.forEach((share, k) => pixels.data.set([...LOOKS, (255 * share) / (Math.max(...looks) || 1)], 4 * k));
        context.putImageData(pixels, 0, 0);
      });
      paint();
    };
    /** Take out each patch by itself, one at a time, so that the page goes on answering. */
    const weigh = async () => {
      effects = null;
      choose();
      if (one("shown", SHOWS) !== "effect") return;
      const mine = read;
      const kind = followed();
      const still = () => el.isConnected && read === mine && kind === followed() && one("shown", SHOWS) === "effect";
      const found = every.map(() => 0);
      for (const n of read.visible) {
        found[n] = sharesOf(read.visible.filter((other) => other !== n))[kind] - read.shares[kind];
        await new Promise((passed) => setTimeout(passed));
        if (!still()) return;
      }
      effects = found;
      paint();
      say(summary());
    };
    const answer = () => {
      order = [...names.keys()].sort((a, b) => read.shares[b] - read.shares[a]);
      answers.put(order.slice(0, BARS_SHOWN).map((n) => ({ token: names[n], share: read.shares[n], chosen: n === followed() })));
      return weigh();
    };
    const look = () => {
      const out = hidden();
      const maps = [];
      const visible = every.filter((n) => !out.has(n));
      const seen = (block, _, weights) => (maps[block] = weights);
      read = { visible, maps, shares: [] };
      read.shares = softmax(vit.forward(pictures[chosen()], { visible, seen }));
      pick.put(chosen());
      answer();
      say(summary());
    };

    assemble(el, "patch_attention", BARS + PATCHES + LOOK,
      pick.group,
      make("div", { class: "controls" }, press.label, shown.label),
      make("div", { class: "panels" },
        make("div", {}, grid.group),
        make("div", {}, classToken, make("p", {}, "What it looks at in each head, by block and head"), thumbs.group)),
      make("p", {}, "What it says the picture is"), answers.list, line,
      make("div", { class: "buttons" }, button("Put all patches back", () => put({ hidden: [] }))),
      ...tasks("press patches and see what each looks at. Then take some out: how few are enough for the right answer?",
        "take “what each patch does” for the pullover. Which patch, taken out alone, makes it a shirt? And does the class token give most to that patch, in any head of the last block?"),
    );
    look();
    return listen(model, [look, "picture", "hidden"], [answer, "kind"], [weigh, "shown"], [choose, "block", "head", "query", "press"]);
  },
};
