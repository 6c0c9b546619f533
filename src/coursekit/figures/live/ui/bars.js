// Bars of tokens, the likeliest first; one is chosen by pressing it.

import { make, percent } from "./controls.js";

export const BARS = `
.live-box .bars { list-style: none; margin: 0.4rem 0; padding: 0; }
.live-box .bars li { margin: 0; }
.live-box .bars button { display: grid; grid-template-columns: 6.5rem 1fr 4rem; gap: 0.6rem; width: 100%;
  align-items: center; background: none; border: 0; color: inherit; font: inherit; padding: 0;
  min-height: 1.75rem; cursor: pointer; text-align: left; border-radius: 0.2rem; }
.live-box .bars button:hover { background: color-mix(in srgb, var(--mark) 12%, transparent); }
.live-box .bars button[aria-pressed="true"] { font-weight: bold; }
.live-box .bars .token { font-family: var(--pst-font-family-monospace, monospace); font-size: 0.88em;
  white-space: pre; overflow: hidden; text-overflow: ellipsis; }
@media (max-width: 36rem) { .live-box .bars button { grid-template-columns: 5.6rem 1fr 3.6rem; } }
.live-box .bars .cut .token { text-decoration: line-through; }
.live-box .bars .track { position: relative; height: 1.05rem; display: block; }
.live-box .bars .fill { position: absolute; inset: 0 auto 0 0; background: var(--mark); }
.live-box .bars .own { position: absolute; inset: 0 auto 0 0; border: 1.5px solid currentColor; }
.live-box .bars .share { text-align: right; font-variant-numeric: tabular-nums; }
`;

/** `choose` is called with the number of a bar. */
export function bars({ name, count, choose }) {
  const rows = Array.from({ length: count }, (_, n) => {
    const parts = Object.fromEntries(
      ["token", "fill", "own", "share"].map((part) => [part, make("span", { class: part })]),
    );
    const track = make("span", { class: "track" }, parts.fill, parts.own);
    const pressed = make(
      "button", { type: "button", onclick: () => choose(n) }, parts.token, track, parts.share,
    );
    return { ...parts, pressed };
  });
  const list = make("ol", { class: "bars", "aria-label": name },
    ...rows.map((row) => make("li", {}, row.pressed)));
  /** Each bar has a `token` in words and a `share`; a frame shows its `own`, if that is another. */
  const put = (shown) => {
    const widest = Math.max(...shown.flatMap(({ share, own = 0 }) => [share, own]));
    shown.forEach(({ token, share, own = 0, chosen }, n) => {
      rows[n].token.textContent = token;
      rows[n].fill.style.width = `${(100 * share) / widest}%`;
      rows[n].own.style.width = `${(100 * own) / widest}%`;
      rows[n].own.hidden = own === 0;
      rows[n].share.textContent = share > 0 ? percent(share) : "cut";
      rows[n].pressed.classList.toggle("cut", share === 0);
      if (chosen !== undefined) rows[n].pressed.setAttribute("aria-pressed", chosen);
    });
  };
  return { list, put };
}
