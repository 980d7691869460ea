// One explorer in one element: checks the data, finds the drawing, connects state, theme and address.
import { Damage } from "./core/check.js";
import { decode } from "./core/decode.js";
import { h } from "./core/dom.js";
import { createBookmarks, createHistory } from "./core/history.js";
import { formatHash, formatToken, parseHash, parseToken } from "./core/links.js";
import { watchScrolling } from "./core/scrolling.js";
import { styleRoot } from "./core/style.js";
import { setOperators } from "./core/operators.js";
import { currentTheme, reducedMotion, watchTheme } from "./core/theme.js";
import { createBus } from "./core/bus.js";
import { fitWindow } from "./core/fit.js";
import { VIEWS } from "./generated/registry.js";

const VERSION = 1;

/** Why this cannot be drawn, or null. */
export function problem(view) {
  if (view?.format !== "relay-explorer") return "This is not a view that relay_explorer generated.";
  if (view.version !== VERSION)
    return `This view has format version ${view.version}, and this page draws version ${VERSION}. Generate both with the same version of relay_explorer.`;
  if (!VIEWS.has(view.view)) return `This page cannot draw a view called “${view.view}”.`;
  return null;
}

/**
 * Draws `view` in `host`'s shadow root. `options`: `name` (its address is `#rx-NAME:TOKEN`), `token` (state at
 * the start), `address` (whether the page's address may hold the state), `onState(token)` after each change.
 * `operators`: where a page describes operators, `{ name: address }`. `onAsk(question)` where a kernel can answer. Returns `{ token(), restore(token), tell(event, value), destroy() }`.
 */
export function mount(
  host,
  view,
  {
    name = "",
    token = "",
    address = false,
    operators = null,
    playground = { address: "", here: false },
    onState = (_token) => {},
    onAsk = null,
  } = {},
) {
  const wrong = problem(view);
  if (wrong) throw new Error(wrong);
  const shadow = host.shadowRoot ?? host.attachShadow({ mode: "open" });
  shadow.replaceChildren();
  styleRoot(shadow);
  // JupyterLab leaves keys alone below such an element.
  host.setAttribute("data-lm-suppress-shortcuts", "true");
  const root = h("div", { class: "rx" });
  shadow.append(root);

  const stopFit = fitWindow(root, !address);
  const bus = createBus();
  const stopTheme = watchTheme((theme) => {
    root.dataset.theme = theme;
    bus.emit("theme", theme);
  });
  let drawn = null;
  let timer = 0;
  const scrolling = watchScrolling(root, () => ctx.changed());
  /** The state; a place to come back to has no bookmarks, a link has all of them. */
  const placeNow = () => formatToken({ ...drawn?.token(), scroll: scrolling.token() });
  const tokenNow = () => [placeNow(), formatToken({ marks: bookmarks.text() })].filter(Boolean).join("&");
  const restore = (next) => {
    const state = parseToken(next);
    bookmarks.take(state.marks);
    drawn.restore(state);
    scrolling.restore(state.scroll);
  };
  const places = createHistory({
    // Going back opens no search that the reader has closed.
    now: () => formatToken({ ...drawn?.token(), q: "", scroll: scrolling.token() }),
    show(next) {
      restore(next);
      ctx.changed();
    },
    moved: () => bus.emit("places", places),
  });
  const bookmarks = createBookmarks({
    store: address && name ? `${window.location.pathname} ${name}` : "",
    changed: () => ctx.changed(),
  });
  bookmarks.take(parseToken(token).marks);
  const ctx = {
    name,
    places,
    bookmarks: Object.assign(bookmarks, {
      here: placeNow,
      visit(next) {
        places.remember();
        restore(next);
        ctx.changed();
      },
    }),
    state: parseToken(token),
    embedded: !address,
    on: bus.on,
    ask: onAsk,
    playground,
    reduced: reducedMotion,
    color: (property) => getComputedStyle(root).getPropertyValue(property).trim(),
    link: () => ({
      token: tokenNow(),
      url: address ? new URL(formatHash(name, tokenNow()), window.location.href).href : null,
    }),
    // Browsers limit how often an address may change, and holding a key changes the state far more often.
    changed() {
      clearTimeout(timer);
      timer = setTimeout(() => {
        const now = address && bookmarks.stored ? placeNow() : tokenNow();
        if (address) history.replaceState(history.state, "", formatHash(name, now));
        onState(tokenNow());
      }, 250);
    },
  };
  try {
    const data = decode(view);
    setOperators(data, operators);
    drawn = VIEWS.get(view.view)(root, data, ctx);
    scrolling.restore(ctx.state.scroll);
  } catch (error) {
    stopTheme();
    stopFit();
    if (error instanceof Damage) throw error;
    throw new Error(
      "This view cannot be drawn: its data is damaged. Generate it again with relay_explorer.",
      {
        cause: error,
      },
    );
  }
  return {
    root,
    token: tokenNow,
    tell: bus.emit,
    restore,
    destroy() {
      clearTimeout(timer);
      scrolling.destroy();
      stopTheme();
      stopFit();
      drawn.destroy();
      shadow.replaceChildren();
    },
  };
}

/** Shows, instead of an explorer that cannot be drawn, the reason, with the still picture below it. */
export function refuse(host, error) {
  const shadow = host.shadowRoot ?? host.attachShadow({ mode: "open" });
  shadow.replaceChildren();
  styleRoot(shadow);
  shadow.append(
    h(
      "div",
      { class: "rx", "data-theme": currentTheme() },
      h("p", { class: "notice", role: "alert" }, error.message),
    ),
    h("slot"),
  );
}

/** Whether the fragment of the page's own address may be used: not inside a frame, nor in a made-up page. */
export function ownsAddress() {
  try {
    return (
      window.top === window &&
      /^(https?|file):$/.test(window.location.protocol) &&
      !document.querySelector("[data-jp-theme-light], [data-vscode-theme-kind], marimo-island, colab-app")
    );
  } catch {
    return false;
  }
}

export function hashFor(name, hash = window.location.hash) {
  const found = parseHash(hash);
  return found && found.name === name ? found.token : null;
}
