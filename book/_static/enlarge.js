// A click on a picture, or Enter while it is in focus, shows it large; a click or Escape ends that.
// On a narrow screen it is wider than the screen then, and can be moved.
document.addEventListener("DOMContentLoaded", () => {
  const dialog = document.createElement("dialog");
  dialog.className = "enlarged";
  dialog.setAttribute("aria-label", "The picture, enlarged; Escape closes it");
  dialog.addEventListener("click", () => dialog.close());
  dialog.addEventListener("keydown", (event) => {
    if (event.key === "Escape") dialog.close(); // not every browser does it by itself
  });
  document.body.append(dialog);

  for (const picture of document.querySelectorAll("article :is(figure, .cell_output) img")) {
    const enlarge = () => {
      const large = new Image();
      large.src = picture.src;
      large.alt = picture.alt;
      dialog.replaceChildren(large);
      dialog.showModal();
    };
    picture.classList.add("enlargeable");
    picture.tabIndex = 0;
    picture.setAttribute("role", "button");
    picture.addEventListener("click", enlarge);
    picture.addEventListener("keydown", (event) => {
      if (event.key === "Enter") enlarge();
    });
  }
});
