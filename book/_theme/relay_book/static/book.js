// The page's own behaviour: the drawer of contents on narrow screens, the theme, the search key. Everything reads without it.
(() => {
  const root = document.documentElement;
  const remember = (key, value) => { try { localStorage.setItem(key, value); } catch { /* storage may be forbidden */ } };

  function theme() {
    const button = document.querySelector("button.theme");
    const show = () => button.setAttribute("aria-pressed", String(root.dataset.theme === "dark"));
    button.addEventListener("click", () => {
      root.dataset.theme = root.dataset.theme === "dark" ? "light" : "dark";
      remember("theme", root.dataset.theme);
      show();
    });
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", (event) => {
      root.dataset.theme = event.matches ? "dark" : "light";
      show();
    });
    show();
  }

  function drawer() {
    const button = document.querySelector("button.menu");
    const contents = document.getElementById("contents");
    if (!contents) { button.hidden = true; return; }
    const set = (open) => {
      document.body.classList.toggle("contents-open", open);
      button.setAttribute("aria-expanded", String(open));
      if (open) (contents.querySelector("[aria-current]") ?? contents.querySelector("a"))?.focus();
    };
    const isOpen = () => document.body.classList.contains("contents-open");
    button.addEventListener("click", () => set(!isOpen()));
    contents.addEventListener("click", (event) => { if (event.target.closest("a")) set(false); });
    document.addEventListener("click", (event) => {
      if (isOpen() && !event.target.closest("#contents, button.menu")) set(false);
    });
    document.addEventListener("keydown", (event) => {
      if (event.key === "Escape" && isOpen()) { set(false); button.focus(); }
    });
    contents.querySelector(".here")?.scrollIntoView({ block: "nearest" });
  }

  // The section being read, marked in the contents.
  function reading() {
    const links = new Map([...document.querySelectorAll("#contents .open ul a")].map((a) => [a.hash.slice(1), a]));
    if (!links.size) return;
    const seen = new IntersectionObserver((entries) => {
      for (const entry of entries) links.get(entry.target.id)?.classList.toggle("reading", entry.isIntersecting);
    }, { rootMargin: "-45% 0px -50% 0px" });
    for (const id of links.keys()) { const section = document.getElementById(id); if (section) seen.observe(section); }
  }

  function search() {
    const field = document.querySelector(".find input");
    document.addEventListener("keydown", (event) => {
      if ((event.ctrlKey || event.metaKey) && event.key.toLowerCase() === "k") { event.preventDefault(); field.focus(); field.select(); }
    });
  }

  // Wide tables and code scroll inside themselves; a keyboard must be able to reach what scrolls.
  function scrollers() {
    for (const box of document.querySelectorAll("article pre, .table-wrap")) if (box.scrollWidth > box.clientWidth) box.tabIndex = 0;
  }

  document.addEventListener("DOMContentLoaded", () => { theme(); drawer(); reading(); search(); scrollers(); });
})();
