// Printing: what is in the page only while it is in a window has to be there as a whole.

/**
 * Calls `apply(true)` before the page is printed and `apply(false)` after that; returns the function that stops it. Browsers
 * announce it by events, or by the medium that a query asks for, or both.
 * @param {(printing: boolean) => void} apply
 */
export function watchPrint(apply) {
  let last = false;
  const tell = (/** @type {boolean} */ printing) => {
    if (printing !== last) apply((last = printing));
  };
  const medium = window.matchMedia?.("print");
  const change = () => tell(medium.matches);
  const before = () => tell(true);
  const after = () => tell(false);
  medium?.addEventListener("change", change);
  window.addEventListener("beforeprint", before);
  window.addEventListener("afterprint", after);
  return () => {
    medium?.removeEventListener("change", change);
    window.removeEventListener("beforeprint", before);
    window.removeEventListener("afterprint", after);
  };
}
