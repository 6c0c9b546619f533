// The page of search: the sections whose question or heading is most like what was typed come
// first, then those whose text has its words. `SECTIONS` is written with the book.
document.addEventListener("DOMContentLoaded", () => {
  const box = document.getElementById("search-results");
  const field = document.querySelector(".bd-search-container input");
  if (!box || !field || !window.SECTIONS) return;
  const home = document.documentElement.dataset.content_root || "./";

  const COMMON = new Set(("a an and are as at be by can do does for from has have how i if in is it its " +
    "me my not of on one or so that the their them then there they this to us was we what when where " +
    "which who why will with you your").split(" "));
  const SAME = { rope: "rotary", warmup: "warm up", kv: "key value", positional: "position",
    bpe: "byte pair encoding", mlm: "masked language model", nsp: "next sentence prediction",
    mha: "multi head attention", mqa: "multi query attention", gqa: "grouped query attention",
    ffn: "feed forward network", mlp: "feed forward network", ln: "layer norm", layernorm: "layer norm" };
  const stem = (word) => word.length > 4 ? word.replace(/(?:ations?|ings?|ed|es|s|e|ly)$/, "") : word;
  const cut = (text) => text // MultiHeadAttention: multi head attention
    .replace(/\p{Lu}?\p{Ll}+(?=\p{Lu}\p{Ll})|(?<=\p{Ll})\p{Lu}\p{Ll}+/gu, "$& ");
  const words = (text) => (text
    .toLowerCase().normalize("NFKD").replace(/\p{M}/gu, "")
    .replace(/square roots?(?: of)?|√/g, " sqrt ")
    .match(/[\p{L}\p{N}]+/gu) || []).flatMap((word) => (SAME[word] || word).split(" ")).map(stem);
  const meant = (all) => {
    const rare = all.filter((word) => !COMMON.has(word));
    return rare.length ? rare : all;
  };

  // How much a kind of page is worth where two fit alike: chapters before lists of links.
  const WORTH = [[/^book\/(?:questions|references|status|lecture_map|index)/, 0.4],
    [/^notebooks\/assignments/, 0.6], [/^notebooks/, 0.8], [/^book\/api/, 0.75],
    [/^book\/glossary/, 0.8], [/^/, 1]];
  const places = window.SECTIONS.map((place) => {
    const body = words(place.text), counts = new Map(), said = [place.title, ...place.asked];
    for (const word of body) counts.set(word, (counts.get(word) || 0) + 1);
    return {
      ...place, counts, length: body.length,
      lines: [...said, ...said.map(cut)].map((line) => new Set(meant(words(line)))),
      around: new Set(words(place.above.join(" "))),
      worth: WORTH.find(([pattern]) => pattern.test(place.at))[1],
    };
  });
  const mean = places.reduce((sum, place) => sum + place.length, 0) / places.length;
  const held = new Map(); // in how many places a word is
  for (const place of places) {
    const all = new Set([...place.counts.keys(), ...place.lines.flatMap((line) => [...line])]);
    for (const word of all) held.set(word, (held.get(word) || 0) + 1);
  }
  const weight = (word) => Math.log(1 + places.length / (1 + (held.get(word) || 0)));
  const sum = (all) => all.reduce((total, word) => total + weight(word), 0);

  const score = (place, asked) => {
    const whole = sum(asked);
    const likeness = place.lines.map((line) => {
      const shared = sum(asked.filter((word) => line.has(word)));
      return (2 * shared) / (whole + sum([...line])); // 1 where all words are the same
    });
    const best = Math.max(...likeness);
    let text = 0, covered = 0;
    for (const word of asked) {
      const n = place.counts.get(word) || 0, near = place.around.has(word) ? 0.5 : 0;
      const inLine = place.lines.some((line) => line.has(word)) ? 1 : 0;
      text += weight(word) * (near + 2.2 * n / (n + 1.2 * (0.25 + 0.75 * place.length / mean)));
      if (n || near || inLine) covered += weight(word);
    }
    const total = 3 * best * best + 3 * best + text / whole;
    return { total: total * place.worth * (covered / whole) ** 2, line: likeness.indexOf(best) % (1 + place.asked.length) };
  };

  const find = (query) => {
    const asked = [...new Set(meant(words(query)))];
    return places
      .map((place) => ({ place, ...score(place, asked) }))
      .filter((result) => result.total > 0)
      .sort((one, other) => other.total - one.total)
      .slice(0, 30)
      .map((result) => ({ ...result, asked }));
  };

  const snippet = (text, asked) => {
    const sentence = text.split(/(?<=[.?!:]) /), fits = (part) => words(part).filter((w) => asked.includes(w)).length;
    const from = sentence.reduce((best, part, n) => (fits(part) > fits(sentence[best]) ? n : best), 0);
    const shown = sentence.slice(from, from + 3).join(" ");
    return (from ? "… " : "") + (shown.length > 260 ? shown.slice(0, 260).replace(/\s\S*$/, " …") : shown);
  };
  const marked = (text, asked) => text.split(/([\p{L}\p{N}]+)/u).map((part) => {
    if (!part || !words(part).some((word) => asked.includes(word))) return part;
    const mark = document.createElement("mark");
    mark.textContent = part;
    return mark;
  });
  const element = (tag, name, ...inside) => {
    const made = document.createElement(tag);
    if (name) made.className = name;
    made.append(...inside);
    return made;
  };

  const show = (query) => {
    const results = query.trim() ? find(query) : [];
    box.replaceChildren(element("p", "search-summary", !query.trim() ? ""
      : results.length ? `${results.length === 30 ? "The first 30" : results.length} places`
      : "No place has these words. The questions, the glossary and the index may lead to it."));
    box.firstChild.setAttribute("role", "status");
    const list = element("ol", "search");
    for (const { place, line, asked } of results) {
      const [page, anchor] = place.at.split("#");
      const link = element("a", "", line ? place.asked[line - 1] : place.title);
      link.href = `${home}${page}.html${anchor ? `#${anchor}` : ""}`;
      const where = [...place.above, ...(line ? [place.title] : [])].join(" › ");
      list.append(element("li", "", link, element("div", "where", where),
        element("p", "context", ...marked(snippet(place.text, asked), asked))));
    }
    box.append(list);
  };

  window.findSections = find; // for the tests
  field.value = new URLSearchParams(location.search).get("q") || "";
  show(field.value);
  field.addEventListener("input", () => show(field.value));
  field.form.addEventListener("submit", (event) => {
    event.preventDefault();
    history.replaceState(null, "", `?q=${encodeURIComponent(field.value)}`);
    box.querySelector("a")?.focus();
  });
});
