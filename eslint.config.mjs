// ESLint's recommended rules for the interactive figures; the workflow `ci` runs them with `npx`.
import { createRequire } from "node:module";

// `npx` installs nothing in this folder: take the rules from the eslint that is running.
const { configs } = createRequire(process.argv[1])("@eslint/js");

const BROWSER = [
  "atob", "Blob", "clearTimeout", "document", "DOMPoint", "history", "Image", "ImageData",
  "innerWidth", "IntersectionObserver", "location", "matchMedia", "performance", "scrollBy", "setTimeout",
  "TextDecoder", "TextEncoder", "URL", "URLSearchParams", "window",
];

export default [
  configs.recommended,
  {
    languageOptions: { globals: Object.fromEntries(BROWSER.map((name) => [name, "readonly"])) },
    linterOptions: { reportUnusedDisableDirectives: "error" },
  },
  { files: ["**/host.js"], languageOptions: { sourceType: "script" } },
];
