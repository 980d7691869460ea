// The whole drawing in a corner, with the window on it. Press or drag to go there.

import { h } from "../core/dom.js";

const WIDE = 120,
  TALL = 150,
  EDGE = 10; // from the corner of the window, pixels
const CORNERS = ["bottom right", "bottom left", "top right", "top left"];

/** `host` has `camera`, `size()` → [width, height] and `move(camera, how)`. */
export function createMinimap(host) {
  const canvas = h("canvas", { class: "minimap", "aria-hidden": "true" });
  let picture = null,
    scene = null,
    k = 1,
    paintPart = null,
    holding = false;

  /** @param {PointerEvent} event */
  function place(event) {
    const box = canvas.getBoundingClientRect(),
      [w, height] = host.size();
    const x = (event.clientX - box.left) / k + scene.bounds.x,
      y = (event.clientY - box.top) / k + scene.bounds.y;
    host.move({ k: host.camera.k, x: w / 2 - x * host.camera.k, y: height / 2 - y * host.camera.k }, "drag");
  }
  canvas.addEventListener("pointerdown", (event) => {
    holding = true;
    canvas.setPointerCapture(event.pointerId);
    place(event);
    event.stopPropagation();
  });
  canvas.addEventListener("pointermove", (event) => holding && place(event));
  for (const name of ["pointerup", "pointercancel"]) canvas.addEventListener(name, () => (holding = false));

  /** How much of the drawn items a corner of the window would cover. */
  function covered(corner, width, height) {
    const { camera } = host,
      [w, tall] = host.size();
    const left = corner.includes("left") ? EDGE : w - EDGE - width,
      top = corner.includes("top") ? EDGE : tall - EDGE - height;
    const at = (screen, offset) => (screen - offset) / camera.k;
    const box = [
      at(left, camera.x),
      at(top, camera.y),
      at(left + width, camera.x),
      at(top + height, camera.y),
    ];
    let area = 0;
    for (const it of scene.itemsIn(...box)) {
      const high = it.frame ? 24 : it.h;
      const x = Math.min(it.x + it.w, box[2]) - Math.max(it.x, box[0]),
        y = Math.min(it.y + high, box[3]) - Math.max(it.y, box[1]);
      area += Math.max(0, x) * Math.max(0, y);
    }
    return area;
  }

  return {
    el: canvas,
    /** Goes to the corner in which it covers least of what is seen now. */
    settle() {
      if (!scene) return;
      const k = Math.min(WIDE / scene.bounds.w, TALL / scene.bounds.h);
      const [width, height] = [Math.max(14, scene.bounds.w * k), Math.max(14, scene.bounds.h * k)];
      const areas = CORNERS.map((corner) => covered(corner, width, height));
      canvas.dataset.corner = CORNERS[areas.indexOf(Math.min(...areas))];
    },
    /** A new drawing; `paint(context, scale, box)` as for tiles. */
    show(next, paint) {
      scene = next;
      paintPart = paint;
      picture = null;
    },
    repaint() {
      picture = null;
    },
    draw(color) {
      if (!scene) return;
      const [w, height] = host.size(),
        { bounds } = scene,
        { camera } = host;
      const whole = bounds.w * camera.k <= w + 1 && bounds.h * camera.k <= height + 1;
      canvas.hidden = whole || w < 260;
      if (canvas.hidden) return;
      const dpr = Math.min(2, window.devicePixelRatio || 1);
      k = Math.min(WIDE / bounds.w, TALL / bounds.h);
      const size = [Math.max(14, bounds.w * k), Math.max(14, bounds.h * k)];
      if (!picture) picture = snapshot(size, dpr);
      canvas.style.width = `${size[0]}px`;
      canvas.style.height = `${size[1]}px`;
      canvas.width = Math.round(size[0] * dpr);
      canvas.height = Math.round(size[1] * dpr);
      const g = canvas.getContext("2d");
      g.drawImage(picture, 0, 0);
      g.setTransform(dpr, 0, 0, dpr, 0, 0);
      g.strokeStyle = color;
      g.lineWidth = 1.5;
      const x = (-camera.x / camera.k - bounds.x) * k,
        y = (-camera.y / camera.k - bounds.y) * k;
      const vw = (w / camera.k) * k,
        vh = (height / camera.k) * k;
      const x0 = Math.max(1, x),
        y0 = Math.max(1, y);
      g.strokeRect(
        x0,
        y0,
        Math.max(4, Math.min(size[0] - 1, x + vw) - x0),
        Math.max(4, Math.min(size[1] - 1, y + vh) - y0),
      );
    },
  };

  /**
   * @param {number} dpr
   */
  function snapshot(/** @type {number[]} */ [w, height], dpr) {
    const out = document.createElement("canvas");
    out.width = Math.round(w * dpr);
    out.height = Math.round(height * dpr);
    const g = out.getContext("2d");
    g.setTransform(k * dpr, 0, 0, k * dpr, -scene.bounds.x * k * dpr, -scene.bounds.y * k * dpr);
    paintPart(g, Math.min(k, 0.15), [
      scene.bounds.x,
      scene.bounds.y,
      scene.bounds.x + scene.bounds.w,
      scene.bounds.y + scene.bounds.h,
    ]);
    return out;
  }
}
