const DOT = "data:image/gif;base64,R0lGODlhAQABAIAAAAAAAP///yH5BAEAAAAALAAAAAABAAEAAAIBRAA7"; // clear

// What is done to the document before it is printed. `plain` are its formulas as lines of text, `most`
// the height from which a table or a listing may be broken.
async function prepare([plain, most]) {
  document.querySelectorAll("mjx-container").forEach((formula, number) => {
    // Chromium's PDF tells a screen reader nothing of the signs of a formula, but what a picture shows.
    formula.querySelector("mjx-assistive-mml")?.remove();
    formula.prepend(Object.assign(new Image(1, 1), { src: DOT, alt: plain[number], className: "dot" }));
    if (!formula.hasAttribute("display")) bind(formula.closest("span.math") ?? formula);
  });
  for (const table of document.querySelectorAll(".page table"))
    fit(table, table.closest(".pst-scrollable-table-container, section").clientWidth);
  for (const formula of document.querySelectorAll("mjx-container[display=true]"))
    fit(formula, formula.parentElement.clientWidth);
  for (const block of document.querySelectorAll(".page :is(table, pre)"))
    block.classList.toggle("long", block.offsetHeight > most);
  await Promise.all([...document.images].map((image) => image.decode()));
}

// Keeps the comma behind a formula, and the bracket before it, in its line.
function bind(formula) {
  const next = formula.nextSibling, before = formula.previousSibling;
  const close = next?.nodeType === 3 && next.data.match(/^[^\s\w(\[—–]+/);
  const open = before?.nodeType === 3 && before.data.match(/[(\[“]+$/);
  if (!close && !open) return;
  const bound = Object.assign(document.createElement("span"), { className: "bound" });
  formula.before(bound);
  bound.append(formula);
  if (close) {
    bound.append(close[0]);
    next.data = next.data.slice(close[0].length);
  }
  if (open) {
    bound.prepend(open[0]);
    before.data = before.data.slice(0, -open[0].length);
  }
}

// Gives what is wider than its room smaller letters.
function fit(element, room) {
  for (let size = 96; size > 50 && element.scrollWidth > room + 1; size -= 4)
    element.style.fontSize = `${size}%`;
}

// Says beside links on which page they lead to; three zeros stand for what is not known yet.
function number([selector, pages]) {
  for (const link of document.querySelectorAll(selector))
    link.dataset.page = pages[decodeURIComponent(link.hash.slice(1))] ?? "000";
}
