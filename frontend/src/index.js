// The bundle's two faces: it finds and mounts the explorers of a page, and it is an anywidget.
import { hashFor, mount, ownsAddress, refuse } from "./mount.js";

const explorers = new Map();

function mountOne(host) {
  if (host.shadowRoot || host.dataset.rx) return;
  host.dataset.rx = "mounted";
  const name = host.id.startsWith("rx-") ? host.id.slice(3) : "";
  const address = name !== "" && ownsAddress();
  const linked = address ? hashFor(name) : null;
  try {
    const data = host.querySelector('script[type="application/json"]');
    if (!data) throw new Error("This explorer has no data in the page.");
    const explorer = mount(host, JSON.parse(data.textContent), {
      name,
      address,
      token: linked ?? host.dataset.state ?? "",
      operators: operatorsOf(host),
      playground: playgroundOf(host),
    });
    explorers.set(name, { host, explorer });
    if (linked !== null) host.scrollIntoView({ block: "start" });
  } catch (error) {
    refuse(host, error);
    console.error(error);
  }
}

/** What the page says about where operators are described; nothing, if that is no JSON. */
function operatorsOf({ dataset }) {
  try {
    return JSON.parse(dataset.operators ?? "null");
  } catch {
    return null;
  }
}

/** Where the playground is: in the book, whose pages say where the site begins, or at its public address. */
function playgroundOf({ dataset }) {
  const site = document.documentElement.dataset.content_root;
  return site === undefined
    ? { address: dataset.playground ?? "", here: false }
    : { address: `${site}book/playground.html`, here: true };
}

/** Mounts every explorer below `root` that is not mounted yet. */
export function mountAll(root = document) {
  for (const host of root.querySelectorAll(".relay-explorer")) mountOne(host);
}

function followAddress() {
  for (const [name, { host, explorer }] of explorers) {
    const token = host.isConnected ? hashFor(name) : null;
    if (token === null || token === explorer.token()) continue;
    explorer.restore(token);
    host.scrollIntoView({ block: "start" });
  }
}

if (typeof document !== "undefined") {
  // The outputs and widgets of a notebook share what the first of them loaded (see loader/run.js), and the playground's
  // script draws explorers of its own.
  globalThis.relayExplorer = { mount, mountAll, render };
  window.addEventListener("hashchange", followAddress);
  if (document.readyState === "loading") document.addEventListener("DOMContentLoaded", () => mountAll());
  else mountAll();
}

/** anywidget: the view in `model.get("view")`, the state in `model.get("state")`; a question goes out as `ask`, and a refusal comes back as `problem`. */
function render({ model, el }) {
  const host = document.createElement("div");
  // Beside other widgets its width may follow from its content, which an explorer adapts to its width.
  host.style.containIntrinsicInlineSize = "720px";
  el.style.flexGrow = "1";
  el.style.minWidth = "0";
  el.append(host);
  let explorer = null;
  /** The state that followed from the model's: it is not the reader's. */
  let restored = null;
  const draw = () => {
    explorer?.destroy();
    explorer = null;
    try {
      explorer = mount(host, model.get("view"), {
        name: model.get("name") ?? "",
        token: model.get("state") ?? "",
        onState: tell,
        onAsk: ask,
      });
      host.dataset.rxLive = model.get("name") ?? "";
      window.dispatchEvent(new Event("relay-explorer-live")); // the static one that stands in for it: loader/standin.js
      tell(explorer.token()); // a view begins at a step that its token need not name
    } catch (error) {
      refuse(host, error);
    }
  };
  function tell(token) {
    // What another view of the widget, or Python, asked for is not told again, or two views of different widths would
    // correct each other for ever.
    if (token === model.get("state") || token === restored) return;
    restored = null;
    model.set("state", token);
    model.save_changes?.();
  }
  function ask(question) {
    model.set("ask", { ...question, number: (model.get("ask")?.number ?? 0) + 1 });
    model.save_changes?.();
  }
  const refused = () => explorer?.tell("problem", model.get("problem") ?? "");
  const restate = () => {
    if (!explorer || (model.get("state") ?? "") === explorer.token()) return;
    explorer.restore(model.get("state") ?? "");
    restored = explorer.token();
  };
  draw();
  model.on?.("change:view", draw);
  model.on?.("change:state", restate);
  model.on?.("change:problem", refused);
  return () => {
    model.off?.("change:view", draw);
    model.off?.("change:state", restate);
    model.off?.("change:problem", refused);
    explorer?.destroy();
  };
}

export { mount };
export default { render };
