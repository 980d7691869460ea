// Typesets the formulas of a page with the KaTeX beside this file. Sphinx loads it on the pages that have formulas, where it would load MathJax.
(() => {
  const base = new URL(".", document.currentScript.src).href;
  const delimiters = /^\s*\\([([])([\s\S]*)\\[)\]]\s*$/;

  function typeset() {
    for (const element of document.querySelectorAll(".math")) {
      const found = delimiters.exec(element.textContent);
      if (!found) continue;
      const displayMode = found[1] === "[";
      // A formula that KaTeX cannot read stays as its source, in red, and is named on the console, which the tests watch.
      try {
        window.katex.render(found[2], element, { displayMode, throwOnError: true, output: "htmlAndMathml" });
      } catch (error) {
        console.error(`formula: ${error.message}`);
        element.classList.add("math-error");
      }
    }
    // What is wider than the page scrolls inside itself, and can be reached with the keyboard to do so.
    document.fonts.ready.then(() => {
      for (const box of document.querySelectorAll("div.math")) if (box.scrollWidth > box.clientWidth) box.tabIndex = 0;
    });
  }

  const style = document.createElement("link");
  style.rel = "stylesheet";
  style.href = `${base}katex.min.css`;
  document.head.append(style);
  const script = document.createElement("script");
  script.src = `${base}katex.min.js`;
  script.onload = () => {
    if (document.readyState === "loading") document.addEventListener("DOMContentLoaded", typeset);
    else typeset();
  };
  document.head.append(script);
})();
