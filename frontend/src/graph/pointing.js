// What a pointer does in the graph: it shows what it is on, and chooses it.
import { activeIn, h } from "../core/dom.js";
import { bindGestures } from "./camera.js";

/**
 * `els` belong over the graph; `hide()` hides the tip.
 * @param {any} graph
 */
export function createPointing(graph) {
  const { hooks, top } = graph;
  const tip = h("div", { class: "gtip", "aria-hidden": "true", hidden: true });
  const hint = h(
    "div",
    { class: "hint", "aria-hidden": "true", hidden: true },
    "Press the graph first, then the wheel zooms.",
  );
  let hinted = false;

  function hintWheel() {
    if (hinted) return;
    hinted = true;
    hint.hidden = false;
    setTimeout(() => (hint.hidden = true), 1600);
  }

  /**
   * @param {number} sx
   * @param {number} sy
   */
  function at(sx, sy) {
    const { k, x, y } = graph.camera;
    return graph.scene?.hit((sx - x) / k, (sy - y) / k, Math.min(8, 3 / k)) ?? null;
  }

  /**
   * @param {number} sx
   * @param {number} sy
   */
  function stubAt(sx, sy) {
    const { k, x, y } = graph.camera;
    const stub = k > 0.4 ? graph.scene?.stubAt((sx - x) / k, (sy - y) / k, 3 / k) : null;
    if (!stub) return null;
    // Where the other end is the border of a group, the first of the far users stands for it.
    return stub.to >= 0 ? stub : { ...stub, to: graph.near(stub.from).users.at(-1) ?? -1 };
  }

  /**
   * @param {number} sx
   * @param {number} sy
   * @param {PointerEvent} event
   */
  function tap(sx, sy, event) {
    const stub = stubAt(sx, sy);
    if (stub?.to >= 0) {
      hooks.select(stub.to, true);
      return graph.reveal(stub.to, { centre: true });
    }
    const item = at(sx, sy);
    if (!item) return hooks.select(-1, true);
    const twist = item.group >= 0 && sx < (item.x + 26) * graph.camera.k + graph.camera.x;
    if (twist) hooks.toggle(item.group, event.shiftKey);
    else hooks.select(item.id, true);
    return undefined;
  }

  /**
   * @param {number} sx
   * @param {number} sy
   */
  function hover(sx, sy) {
    const stub = Number.isNaN(sx) ? null : stubAt(sx, sy);
    const item = Number.isNaN(sx) ? null : at(sx, sy);
    const id = item?.id ?? -1;
    top.style.cursor = item || stub ? "pointer" : "grab";
    if (id !== graph.state.hovered) hooks.hover(id);
    const lines =
      stub?.to >= 0
        ? ["a long edge: press to jump to", ...hooks.tip(stub.to).slice(0, 1)]
        : id >= 0
          ? hooks.tip(id)
          : [];
    tip.hidden = !lines.length;
    if (!lines.length) return;
    tip.replaceChildren(
      ...lines.map((/** @type {string} */ line, /** @type {number} */ i) => h(i ? "div" : "b", null, line)),
    );
    const [w] = graph.size();
    tip.style.left = `${Math.min(sx + 14, Math.max(4, w - tip.offsetWidth - 6))}px`;
    tip.style.top = `${sy + 16}px`;
  }

  const host = {
    get camera() {
      return graph.camera;
    },
    move: (/** @type {any} */ camera, /** @type {string} */ how) => graph.move(camera, how),
    press: () => graph.press(),
    wheelAllowed: (/** @type {WheelEvent} */ event) =>
      event.ctrlKey || event.metaKey || graph.el.contains(activeIn(graph.el)),
  };
  bindGestures(top, host, { tap, hover, refused: hintWheel });
  top.addEventListener("dblclick", (/** @type {MouseEvent} */ event) => {
    const item = at(event.offsetX, event.offsetY);
    if (item?.group >= 0) hooks.toggle(item.group, event.shiftKey);
  });
  return {
    els: [tip, hint],
    hide: () => {
      tip.hidden = true;
    },
  };
}
