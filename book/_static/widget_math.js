// The widget manager speaks to MathJax 2, the pages load MathJax 3. Whatever object stands for MathJax,
// its settings first and the library later, gets the one old function that the manager calls.
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
