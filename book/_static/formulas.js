// A page has plain signs where its formulas are; MathJax puts what it has set in their place.
if (window.MathJax) {
  const options = (window.MathJax.options ??= {});
  options.renderActions = {
    ...options.renderActions,
    findPlain: [10, (doc) => {
      for (const plain of document.querySelectorAll("[data-tex]")) {
        const math = new doc.options.MathItem(
          plain.dataset.tex, doc.inputJax[0], plain.classList.contains("displayed"));
        const place = document.createTextNode("");
        plain.after(place);
        math.start = { node: place, delim: "", n: 0 };
        math.end = { node: place, delim: "", n: 0 };
        doc.math.push(math);
      }
    }, ""],
    dropPlain: [205, () => document.querySelectorAll("[data-tex]").forEach((e) => e.remove()), ""],
  };
}
