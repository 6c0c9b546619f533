// What the widget manager needs to find on a page of this book; loaded before it.

// requirejs takes its settings from here. The manager looks for its icon fonts beside itself;
// without this it would look beside the page.
window.require = {
  paths: {
    "@jupyter-widgets/html-manager/dist": new URL(
      document.documentElement.dataset.content_root + "_static/widgets",
      window.location.href
    ).href,
  },
};

// The manager speaks to MathJax 2, the pages load MathJax 3. Whatever object stands for MathJax, its
// settings first and the library later, gets the one old function that is called.
{
  const hub = {
    Queue: ([, , element]) =>
      window.MathJax.startup?.promise?.then(() => window.MathJax.typesetPromise([element])),
  };
  let mathjax = window.MathJax;
  const withHub = (value) =>
    value && !value.Hub ? Object.defineProperty(value, "Hub", { value: hub }) : value;
  withHub(mathjax);
  Object.defineProperty(window, "MathJax", {
    configurable: true,
    enumerable: true,
    get: () => mathjax,
    set: (value) => (mathjax = withHub(value)),
  });
}
