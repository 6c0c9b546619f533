// What a page does beside being read. A picture can be enlarged, with its caption; what is wider
// than its place fades at the edge behind which there is more; on paper all answers are open; and
// the address of what has moved to another page of the chapter leads there.
document.addEventListener("DOMContentLoaded", () => {
  const make = (tag, name, text) => Object.assign(document.createElement(tag), { className: name, textContent: text });

  const dialog = make("dialog", "enlarged", "");
  const close = make("button", "close", "×");
  close.setAttribute("aria-label", "Close");
  close.addEventListener("click", () => dialog.close());
  dialog.addEventListener("click", (event) => {
    if (event.target === dialog) dialog.close(); // beside the picture
  });
  dialog.addEventListener("keydown", (event) => {
    if (event.key === "Escape") dialog.close(); // not every browser does it by itself
  });
  document.body.append(dialog);

  for (const picture of document.querySelectorAll("article :is(figure, .cell_output) img")) {
    const caption = picture.closest("figure")?.querySelector("figcaption");
    const number = caption?.querySelector(".caption-number")?.textContent.trim();
    const enlarge = () => {
      const large = new Image();
      large.src = picture.src;
      large.alt = picture.alt;
      const inside = [close, large];
      if (caption) inside.push(Object.assign(make("p", "caption"), { innerHTML: caption.querySelector("p, .caption-text")?.parentElement.innerHTML ?? "" }));
      dialog.setAttribute("aria-label", `${number || "The picture"}, enlarged`);
      dialog.replaceChildren(...inside);
      for (const link of dialog.querySelectorAll(".headerlink")) link.remove();
      dialog.showModal();
    };
    const button = make("button", "enlarge", "⤢");
    button.setAttribute("aria-label", `Enlarge ${number ? number.replace(/\.$/, "") : "the picture"}`);
    button.addEventListener("click", enlarge);
    picture.classList.add("enlargeable");
    picture.addEventListener("click", enlarge);
    picture.after(button);
  }

  const follow = () => {
    if (!location.hash || document.getElementById(decodeURIComponent(location.hash.slice(1)))) return;
    const link = [...document.querySelectorAll(".moved a")].find((one) => one.hash === location.hash);
    if (link) location.replace(link.href);
  };
  addEventListener("hashchange", follow);
  follow();

  const wide = "article :is(.pst-scrollable-table-container, pre, mjx-container[display=true])";
  const fade = (box) => {
    box.classList.toggle("more-right", box.scrollLeft + box.clientWidth < box.scrollWidth - 2);
    if (box.scrollWidth > box.clientWidth + 2) box.tabIndex = 0; // the arrow keys move it
  };
  const boxes = [...document.querySelectorAll(wide)];
  const all = () => boxes.forEach(fade);
  for (const box of boxes) box.addEventListener("scroll", () => fade(box), { passive: true });
  addEventListener("resize", all);
  addEventListener("load", all);

  // Paper does not wait for a picture that nobody has scrolled to: it is fetched on the spot.
  const bring = (picture) => {
    const request = new XMLHttpRequest();
    try {
      request.open("GET", picture.src, false);
      request.overrideMimeType("text/plain; charset=x-user-defined");
      request.send();
      const bytes = [...request.responseText].map((c) => String.fromCharCode(c.charCodeAt(0) & 255));
      picture.loading = "eager";
      picture.src = `data:image/png;base64,${btoa(bytes.join(""))}`;
    } catch {
      picture.loading = "eager"; // a file that a browser opens by itself may not be asked for
    }
  };
  const opened = [];
  addEventListener("beforeprint", () => {
    for (const part of document.querySelectorAll("article details:not([open])")) {
      part.open = true;
      opened.push(part);
    }
    for (const picture of document.querySelectorAll("img[loading=lazy]")) {
      if (!picture.complete || !picture.naturalWidth) bring(picture);
    }
  });
  addEventListener("afterprint", () => {
    for (const part of opened.splice(0)) part.open = false;
  });
});
