// Where the reader looks: screen = world × k + (x, y). Drag, wheel, pinch and keys move it.

const MIN = 0.008,
  MAX = 4;

/** @param {number} k */
export const clampZoom = (k) => Math.max(MIN, Math.min(MAX, k));

/**
 * The camera that shows all of `bounds` in a window, at most at `most`; what is too tall or wide to be read when whole starts at its top.
 * @param {number} width
 * @param {number} height
 */
export function fitCamera(bounds, width, height, { most = 1.15, least = 0, pad = 18 } = {}) {
  const whole = Math.min(
    (width - 2 * pad) / Math.max(1, bounds.w),
    (height - 2 * pad) / Math.max(1, bounds.h),
  );
  const k = clampZoom(Math.min(most, Math.max(whole, least)));
  const x = bounds.w * k <= width - 2 * pad + 1 ? (width - bounds.w * k) / 2 : pad;
  const y = bounds.h * k <= height - 2 * pad + 1 ? (height - bounds.h * k) / 2 : pad;
  return { k, x: x - bounds.x * k, y: y - bounds.y * k };
}

/**
 * Zooms by `factor` about a point of the screen.
 * @param {{ k: number; x: number; y: number; }} camera
 * @param {number} factor
 * @param {number} sx
 * @param {number} sy
 */
export function zoomAbout(camera, factor, sx, sy) {
  const k = clampZoom(camera.k * factor),
    f = k / camera.k;
  return { k, x: sx - (sx - camera.x) * f, y: sy - (sy - camera.y) * f };
}

/**
 * Keeps at least a strip of the drawing in the window.
 * @param {number} width
 * @param {number} height
 * @param {{ k: number; x: number; y: number; }} camera
 */
export function keepInView(camera, bounds, width, height) {
  const margin = Math.min(80, width / 3, height / 3);
  /**
   * @param {number} room
   * @param {number} at
   */
  const clamp = (at, from, size, room) =>
    Math.max(margin - (from + size) * camera.k, Math.min(room - margin - from * camera.k, at));
  return {
    k: camera.k,
    x: clamp(camera.x, bounds.x, bounds.w, width),
    y: clamp(camera.y, bounds.y, bounds.h, height),
  };
}

/**
 * Listens on `node`. `host` has `camera`, `move(camera, how)`, `press()` and `wheelAllowed(event)`; `how` is "drag" or "zoom". `tap(x, y, event)` is a press without a move.
 * @param {HTMLCanvasElement} node
 */
export function bindGestures(node, host, { tap, hover, refused }) {
  const fingers = new Map();
  let moved = 0,
    start = null;
  /** @param {PointerEvent | WheelEvent} event */
  const at = (event) => {
    const box = node.getBoundingClientRect();
    return [event.clientX - box.left, event.clientY - box.top];
  };
  const spread = () => {
    const [[ax, ay], [bx, by]] = fingers.values();
    return { d: Math.hypot(ax - bx, ay - by), x: (ax + bx) / 2, y: (ay + by) / 2 };
  };
  node.addEventListener("pointerdown", (event) => {
    if (event.button) return;
    node.setPointerCapture(event.pointerId);
    host.press();
    fingers.set(event.pointerId, at(event));
    if (fingers.size === 1) moved = 0;
    start = fingers.size === 2 ? spread() : null;
  });
  // The press itself must not take the focus that `press` gave.
  node.addEventListener("mousedown", (event) => event.preventDefault());
  node.addEventListener("pointermove", (event) => {
    const last = fingers.get(event.pointerId),
      now = at(event);
    if (!last) return hover?.(...now, event);
    fingers.set(event.pointerId, now);
    moved += Math.abs(now[0] - last[0]) + Math.abs(now[1] - last[1]);
    if (fingers.size === 1 && moved > 4)
      host.move(
        { ...host.camera, x: host.camera.x + now[0] - last[0], y: host.camera.y + now[1] - last[1] },
        "drag",
      );
    if (fingers.size !== 2) return undefined;
    const s = spread();
    const zoomed = zoomAbout(host.camera, s.d / Math.max(1, start.d), s.x, s.y);
    host.move({ ...zoomed, x: zoomed.x + s.x - start.x, y: zoomed.y + s.y - start.y }, "zoom");
    start = s;
    return undefined;
  });
  const lift = (event) => {
    if (!fingers.delete(event.pointerId)) return;
    start = null;
    if (event.type === "pointerup" && !fingers.size && moved <= 4) tap(...at(event), event);
  };
  node.addEventListener("pointerup", lift);
  node.addEventListener("pointercancel", lift);
  node.addEventListener("pointerleave", (event) => !fingers.size && hover?.(NaN, NaN, event));
  node.addEventListener(
    "wheel",
    (event) => {
      if (!host.wheelAllowed(event)) return refused?.();
      event.preventDefault();
      const unit = event.deltaMode === 1 ? 16 : event.deltaMode === 2 ? 400 : 1;
      host.move(
        zoomAbout(
          host.camera,
          Math.exp(-event.deltaY * unit * (event.ctrlKey ? 0.008 : 0.0016)),
          .../** @type {[number, number]} */ (at(event)),
        ),
        "zoom",
      );
      return undefined;
    },
    { passive: false },
  );
}
