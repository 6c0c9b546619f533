// Gives a module in anywidget's form its model, once the figure comes near the screen. In the book
// the address can set the state, and follows it; a trained model comes from a file of its own.
(() => {
  const figure = document.getElementById("IDENTITY");
  if (!figure || figure.dataset.ready !== undefined) return;
  const about = JSON.parse(figure.querySelector("script").textContent);
  const { module, state, name, linked = [] } = about;
  if (about.room) figure.style.minHeight = `${about.room[innerWidth < 576 ? 1 : 0]}px`;
  const book = document.documentElement.dataset.content_root; // where the pages' folder is from here
  const heard = new Map(); // name of an event -> its listeners
  const tell = (event, ...said) => [...(heard.get(event) ?? [])].forEach((f) => f(...said));
  const model = {
    get: (key) => state[key],
    set(key, value) {
      if (Object.is(state[key], value)) return;
      state[key] = value;
      tell(`change:${key}`, model, value);
      tell("change", model);
      if (linked.includes(key)) follow();
    },
    on: (event, f) => heard.set(event, (heard.get(event) ?? new Set()).add(f)),
    off: (event, f) => (f ? heard.get(event)?.delete(f) : event ? heard.delete(event) : heard.clear()),
    save_changes() {}, // there is no kernel behind a page
    send() {},
  };

  // ?writer.year=1800 in the address: text as it is, all else as JSON of the kind that was there.
  const first = Object.fromEntries(linked.map((key) => [key, JSON.stringify(state[key])]));
  const kind = (value) => (Array.isArray(value) ? "list" : typeof value);
  if (book !== undefined) {
    const asked = new URLSearchParams(location.search);
    for (const key of linked.filter((key) => asked.has(`${name}.${key}`))) {
      const text = asked.get(`${name}.${key}`);
      try {
        const value = kind(state[key]) === "string" ? text : JSON.parse(text);
        if (kind(value) === kind(state[key])) state[key] = value;
      } catch {
        // what is not JSON changes nothing
      }
    }
  }
  let waiting;
  const follow = () => {
    if (book === undefined) return;
    clearTimeout(waiting);
    waiting = setTimeout(() => {
      const address = new URL(location.href);
      for (const key of linked) {
        const value = state[key];
        const text = kind(value) === "string" ? value : JSON.stringify(value);
        if (JSON.stringify(value) === first[key]) address.searchParams.delete(`${name}.${key}`);
        else address.searchParams.set(`${name}.${key}`, text);
      }
      address.hash = figure.closest("figure[id]")?.id ?? figure.id;
      history.replaceState(history.state, "", address);
    }, 300);
  };

  const fetched = (trained) => // once, also where two figures of a page run one model
    ((window.LIVE_COMING ??= {})[trained] ??= new Promise((done, failed) => {
      const script = document.createElement("script");
      script.src = `${book ?? ""}_static/live/${trained}.js`;
      script.onload = () => done(window.LIVE[trained]);
      script.onerror = () => failed(new Error(`the model of ${trained} did not come`));
      document.head.append(script);
    }));
  const mount = async () => {
    if (about.model) Object.assign(state, await fetched(about.model));
    const url = URL.createObjectURL(new Blob([module], { type: "text/javascript" }));
    let { default: widget } = await import(url);
    URL.revokeObjectURL(url);
    if (typeof widget === "function") widget = await widget();
    await widget.initialize?.({ model });
    await widget.render?.({ model, el: figure.querySelector(".live-view") });
    figure.dataset.ready = "";
  };
  new IntersectionObserver(
    (entries, observer) => {
      if (!entries.some((entry) => entry.isIntersecting)) return;
      observer.disconnect();
      mount()
        .catch((error) => {
          figure.dataset.failed = error.message;
          figure.querySelector(".live-view").textContent = `The figure stays still: ${error.message}.`;
        })
        .finally(() => (figure.style.minHeight = ""));
    },
    { rootMargin: "400px" },
  ).observe(figure);
})();
