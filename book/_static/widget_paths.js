// requirejs takes its settings from here. The widget manager looks for its icon fonts beside itself;
// without this it would look beside the page.
window.require = {
  paths: {
    "@jupyter-widgets/html-manager/dist": new URL(
      document.documentElement.dataset.content_root + "_static/widgets",
      window.location.href
    ).href,
  },
};
