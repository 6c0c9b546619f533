// A number that a notebook has computed opens to its source, which the fold at the page's end has.
document.addEventListener("DOMContentLoaded", () => {
  const fold = document.querySelector("details.number-sources");
  if (!fold || !HTMLElement.prototype.showPopover) return; // an old browser still has the fold
  const note = document.createElement("div");
  note.className = "number-source";
  note.popover = "auto"; // a click elsewhere closes it
  fold.after(note);
  document.addEventListener("keydown", ({ key }) => {
    if (key === "Escape" && note.matches(":popover-open")) note.hidePopover();
  });
  document.querySelector("article").addEventListener("click", (event) => {
    const number = event.target.closest(".sourced");
    if (!number || event.target.closest("a, button, label, summary")) return;
    if (!getSelection().isCollapsed) return; // somebody wants to copy it
    const from = [...number.classList].find((name) => name.startsWith("from-"));
    const source = fold.querySelector(`#${from}`);
    note.innerHTML = `<p>${source.previousElementSibling.innerHTML}</p>${source.innerHTML}`;
    note.showPopover();
    const { left, bottom, top } = number.getBoundingClientRect();
    const { offsetWidth: width, offsetHeight: height } = note;
    const below = bottom + 6 + height < innerHeight;
    note.style.left = `${Math.max(8, Math.min(left, document.documentElement.clientWidth - width - 8))}px`;
    note.style.top = `${below ? bottom + 6 : Math.max(8, top - height - 6)}px`;
  });
});
