// What the sources are checked for beyond types (tsc) and layout (prettier).
import js from "@eslint/js";
import globals from "globals";

// Data becomes text nodes and attribute values, never markup: see src/core/dom.js.
const MARKUP = ["innerHTML", "outerHTML", "insertAdjacentHTML"].map((property) => ({
  property,
  message: "Make elements with h and s of core/dom.js.",
}));

export default [
  { ignores: ["node_modules", "out", "src/generated/schema.js"] },
  js.configs.recommended,
  {
    rules: {
      "array-callback-return": "error",
      eqeqeq: "error",
      "max-lines": ["error", 450],
      "no-restricted-properties": ["error", ...MARKUP],
      "no-self-compare": "error",
      "no-unused-expressions": "error",
      "no-unused-vars": ["error", { argsIgnorePattern: "^_" }],
      "no-use-before-define": ["error", { functions: false, classes: false, variables: false }],
      "no-var": "error",
      "object-shorthand": "error",
      "prefer-const": "error",
    },
  },
  { files: ["src/generated/**"], rules: { "max-lines": "off" } },
  { files: ["src/**"], languageOptions: { globals: { ...globals.browser, PYODIDE_INFO: "readonly" } } },
  { files: ["*.mjs", "test/**"], languageOptions: { globals: globals.node } },
  { files: ["firefox.mjs"], languageOptions: { globals: globals.browser } },
];
