// Gives a module in anywidget's form its model, once the figure comes near the screen.
(() => {
  const figure = document.getElementById("IDENTITY");
  if (!figure || figure.dataset.ready !== undefined) return;
  const { module, state } = JSON.parse(figure.querySelector("script").textContent);
  const heard = new Map(); // name of an event -> its listeners
  const tell = (name, ...said) => [...(heard.get(name) ?? [])].forEach((f) => f(...said));
  const model = {
    get: (key) => state[key],
    set(key, value) {
      if (Object.is(state[key], value)) return;
      state[key] = value;
      tell(`change:${key}`, model, value);
      tell("change", model);
    },
    on: (name, f) => heard.set(name, (heard.get(name) ?? new Set()).add(f)),
    off: (name, f) => (f ? heard.get(name)?.delete(f) : name ? heard.delete(name) : heard.clear()),
    save_changes() {}, // there is no kernel behind a page
    send() {},
  };
  const mount = async () => {
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
      mount().catch((error) => (figure.dataset.failed = error.message));
    },
    { rootMargin: "400px" },
  ).observe(figure);
})();
