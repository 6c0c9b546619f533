// A slider that turns the pages of a figure. State: name, labels, alts, pictures, index.
export default {
  render({ model, el }) {
    const labels = model.get("labels");
    const slider = document.createElement("input");
    Object.assign(slider, { type: "range", min: 0, max: labels.length - 1, step: 1 });
    slider.setAttribute("aria-label", model.get("name"));
    slider.style.width = "60%";
    const said = document.createElement("output");
    const picture = new Image();
    picture.style.cssText = "display: block; height: auto; max-width: 100%";

    const show = () => {
      const index = model.get("index");
      slider.value = index;
      slider.setAttribute("aria-valuetext", labels[index]);
      said.textContent = labels[index];
      picture.src = model.get("pictures")[index];
      picture.alt = model.get("alts")[index];
    };
    slider.addEventListener("input", () => {
      model.set("index", Number(slider.value));
      model.save_changes();
    });
    model.on("change:index", show);
    show();

    const bar = document.createElement("div");
    bar.style.cssText = "align-items: center; display: flex; gap: 0.8rem";
    bar.append(`${model.get("name")}`, slider, said);
    el.replaceChildren(bar, picture);
    return () => model.off("change:index", show);
  },
};
