// How large an explorer may be: as high as its window less what the page keeps above it, or the whole window where the
// reader asks for that; and whether it takes its compact form.
import { set } from "./dom.js";

/** In rem: narrower, the tools are in a menu; narrower or lower, the bar is slim and the foot is closed as well. */
const MENU = 47.5;
const SLIM = 31;
const SHORT = 30;
/** What a notebook keeps around its outputs, and the room in a frame that grows with what it holds. */
const AROUND = "10rem";
const GROWING = "40rem";

/** The height of what stays on top of the page while it scrolls. */
function barAbove() {
  const middle = document.documentElement.clientWidth / 2;
  let above = 0;
  for (const node of document.elementsFromPoint(middle, 1))
    for (let at = /** @type {Element | null} */ (node); at; at = at.parentElement) {
      if (!/sticky|fixed/.test(getComputedStyle(at).position)) continue;
      const { top, height } = at.getBoundingClientRect();
      if (top <= 0 && height < window.innerHeight / 3) above = Math.max(above, top + height);
    }
  return Math.round(above);
}

/** Whether the frame around this page grows with the page, as Colab's does: its height says nothing then. */
const frameGrows = () => /** @type {any} */ (window).google?.colab !== undefined;

/** The size of the page's text: 16 unless the reader asked for larger letters. */
export const rem = () =>
  (globalThis.document && parseFloat(getComputedStyle(document.documentElement).fontSize)) || 16;

/** By how much letters are larger than in most browsers: drawings that stand beside text grow as it does. */
export const scale = () => rem() / 16;

/**
 * A width of a stylesheet, given in pixels for letters of 16.
 * @param {string} width
 */
export const scaledWidth = (width) => width.replace(/([\d.]+)px/g, (_, px) => `${Number(px) / 16}rem`);

/**
 * Scrolls the page by as little as shows the whole of `root`, if the window has room for it.
 * @param {HTMLElement} root
 */
export function bringIntoSight(root) {
  const { top, bottom } = root.getBoundingClientRect();
  const above = barAbove();
  const by = top < above ? top - above : Math.min(bottom - window.innerHeight, top - above);
  if (top < above || bottom > window.innerHeight) window.scrollBy({ top: by, behavior: "instant" });
}

/**
 * Keeps `root` within its window: sets `--room`, and the attributes by which the stylesheets adapt to it. `embedded`: in a
 * notebook. Returns the function that stops it.
 * @param {HTMLElement} root
 * @param {boolean} embedded
 */
export function fitWindow(root, embedded) {
  let above = -1;
  function look() {
    const next = embedded || root.dataset.full !== undefined ? 0 : barAbove();
    if (next !== above) {
      above = next;
      const room = embedded ? `max(22rem, calc(100svh - ${AROUND}))` : `calc(100svh - ${above}px - 0.5rem)`;
      root.style.setProperty("--room", frameGrows() ? GROWING : room);
    }
    shape();
  }
  function shape() {
    const unit = rem();
    const limit = parseFloat(getComputedStyle(root).maxHeight);
    const slim = root.clientWidth < SLIM * unit;
    const short = limit < SHORT * unit;
    set(root, "data-form", slim || short ? "compact" : null);
    set(root, "data-short", short);
    set(root, "data-menu", short || root.clientWidth < MENU * unit);
    // A view may have more buttons than that leaves room for.
    const bar = root.querySelector(".bar");
    if (bar && bar.scrollWidth > bar.clientWidth + 1) set(root, "data-menu", true);
  }
  const sizes = new ResizeObserver(shape);
  sizes.observe(root);
  window.addEventListener("resize", look);
  look();
  return () => {
    sizes.disconnect();
    window.removeEventListener("resize", look);
  };
}

/**
 * The whole window for the explorer that `frame` is in, and back: `{ on(), toggle(), leave() }`. `changed(on)` is called
 * after each.
 * @param {HTMLElement} frame
 * @param {(on: boolean) => void} changed
 */
export function wholeWindow(frame, changed) {
  let root = frame;
  const scrollers = () =>
    [...root.querySelectorAll("*")].filter(({ scrollTop, scrollLeft }) => scrollTop || scrollLeft);
  /** @type {{ overflow: string, x: number, y: number } | null} */
  let page = null;
  const html = document.documentElement;

  /**
   * Does `change`, after which everything is scrolled to where it was.
   * @param {() => void} change
   */
  function keeping(change) {
    const before = scrollers().map((node) => ({ node, top: node.scrollTop, left: node.scrollLeft }));
    change();
    for (const { node, top, left } of before) {
      node.scrollTop = top;
      node.scrollLeft = left;
    }
  }
  function enter() {
    page = { overflow: html.style.overflow, x: window.scrollX, y: window.scrollY };
    const shadow = /** @type {ShadowRoot} */ (frame.getRootNode());
    const host = /** @type {HTMLElement} */ (shadow.host);
    root = shadow.querySelector(".rx") ?? frame; // an explorer inside another takes that along
    keeping(() => {
      // What is around keeps its place.
      host.style.height = `${host.offsetHeight}px`;
      html.style.overflow = "hidden";
      root.dataset.full = "";
      // Above everything in the page, whatever contains the explorer; where the browser has no popovers, by its z-index.
      root.setAttribute("popover", "manual");
      root.showPopover?.();
    });
    // A frame that is smaller than the window: the whole screen.
    if (window.top !== window) root.requestFullscreen?.().catch(() => {});
    document.addEventListener("fullscreenchange", screenLeft);
    changed(true);
  }
  /** False where there was nothing to leave. */
  function leave() {
    if (!page) return false;
    const { overflow, x, y } = page;
    page = null;
    document.removeEventListener("fullscreenchange", screenLeft);
    if (document.fullscreenElement) document.exitFullscreen().catch(() => {});
    const host = /** @type {HTMLElement} */ (/** @type {ShadowRoot} */ (root.getRootNode()).host);
    keeping(() => {
      root.removeAttribute("popover");
      delete root.dataset.full;
      host.style.height = "";
      html.style.overflow = overflow;
    });
    window.scrollTo({ left: x, top: y, behavior: "instant" });
    changed(false);
    return true;
  }
  function screenLeft() {
    if (!document.fullscreenElement) leave();
  }
  return {
    on: () => page !== null,
    toggle: () => void (page ? leave() : enter()),
    leave,
  };
}
