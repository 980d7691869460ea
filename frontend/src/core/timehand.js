// The reader's hand on the timeline: drag to seek, with Shift or by a handle to select a part, wheel and two fingers to
// magnify, and the keys that do the same.

/** How near to a handle of the selection a finger has to come, in pixels. */
const NEAR = 9;

/**
 * @typedef {object} Time
 * @property {(at: number) => number} x
 * @property {(px: number) => number} timeAt
 * @property {(px: number) => number} stepAt
 * @property {(factor: number, around?: number) => void} zoom
 * @property {(from: number) => void} pan
 * @property {(range: [number, number] | null) => void} select
 * @property {(at: number, show: boolean) => void} hint
 * @property {(step: number) => void} seek
 * @property {() => void} whole
 * @property {() => { step: number, range: [number, number] | null, length: number, from: number, last: number }} now
 */

/**
 * Listens on the timeline's element; returns the function that stops it.
 * @param {HTMLElement} el
 * @param {Time} time
 */
export function createHand(el, time) {
  /** @type {Map<number, number>} */
  const fingers = new Map();
  /** The end of the selection that stays, while the other one is dragged; -1 while the reader seeks. */
  let anchor = -1;
  let apart = 0;
  const px = (/** @type {MouseEvent} */ event) => event.clientX - el.getBoundingClientRect().left;
  const spread = () => {
    const [a, b] = [...fingers.values()];
    return { middle: (a + b) / 2, apart: Math.max(8, Math.abs(a - b)) };
  };

  function down(/** @type {PointerEvent} */ event) {
    el.setPointerCapture(event.pointerId);
    fingers.set(event.pointerId, px(event));
    if (fingers.size === 2) {
      apart = spread().apart;
      return;
    }
    const at = time.stepAt(px(event));
    const { range } = time.now();
    const handle = range?.findIndex((end) => Math.abs(time.x(end) - px(event)) < NEAR) ?? -1;
    if (range && handle >= 0) anchor = range[1 - handle];
    else anchor = event.shiftKey ? at : -1;
    if (anchor >= 0) time.select([anchor, at]);
    else time.seek(at);
  }
  function move(/** @type {PointerEvent} */ event) {
    const at = time.stepAt(px(event));
    time.hint(at, time.now().last > 0);
    if (!fingers.has(event.pointerId)) return;
    fingers.set(event.pointerId, px(event));
    if (fingers.size === 2) {
      const { middle, apart: next } = spread();
      time.zoom(apart / next, time.timeAt(middle));
      apart = next;
    } else if (anchor >= 0) time.select([anchor, at]);
    else time.seek(at);
  }
  function up(/** @type {PointerEvent} */ event) {
    fingers.delete(event.pointerId);
    if (fingers.size === 0) anchor = -1;
  }
  function wheel(/** @type {WheelEvent} */ event) {
    // A page that scrolls is not stopped: the timeline takes the wheel with Ctrl (a pinch on a trackpad), or once it was pressed.
    const focused = /** @type {ShadowRoot} */ (el.getRootNode()).activeElement === el;
    if (!event.ctrlKey && !focused) return;
    event.preventDefault();
    const { from, length } = time.now();
    if (Math.abs(event.deltaX) > Math.abs(event.deltaY)) time.pan(from + (event.deltaX / 500) * length);
    else time.zoom(Math.exp(event.deltaY / 300), time.timeAt(px(event)));
  }
  function key(/** @type {KeyboardEvent} */ event) {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const { step, range, last } = time.now();
    /** @param {number} by */
    const extend = (by) => {
      const from = range && range.includes(step) ? range[step === range[0] ? 1 : 0] : step;
      const to = Math.max(0, Math.min(last, step + by));
      time.select([from, to]);
      time.seek(to);
    };
    const run = {
      "+": () => time.zoom(0.6),
      "=": () => time.zoom(0.6),
      "-": () => time.zoom(1 / 0.6),
      0: time.whole,
      ArrowRight: event.shiftKey && (() => extend(1)),
      ArrowLeft: event.shiftKey && (() => extend(-1)),
    }[event.key];
    if (!run) return;
    run();
    event.preventDefault();
    event.stopPropagation();
  }
  const leave = () => time.hint(time.now().step, false);

  /** @type {[string, (event: any) => void][]} */
  const listeners = [
    ["pointerdown", down],
    ["pointermove", move],
    ["pointerup", up],
    ["pointercancel", up],
    ["pointerleave", leave],
    ["keydown", key],
  ];
  for (const [name, listener] of listeners) el.addEventListener(name, listener);
  el.addEventListener("wheel", wheel, { passive: false });
  return () => {
    for (const [name, listener] of listeners) el.removeEventListener(name, listener);
    el.removeEventListener("wheel", wheel);
  };
}
