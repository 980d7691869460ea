// First, back, play, forward, last: the buttons, and the clock behind play.
import { h, s } from "./dom.js";

/** @typedef {"first" | "back" | "forward" | "last"} Move */

const ICONS = {
  first: "M3 3h2v10H3zM13 3v10L6 8z",
  back: "M11 3v10L4 8z",
  play: "M4 2.5v11L13 8z",
  pause: "M4 3h3v10H4zM9 3h3v10H9z",
  forward: "M5 3v10l7-5z",
  last: "M11 3h2v10h-2zM3 3v10l7-5z",
};
/** @param {keyof typeof ICONS} name */
const icon = (name) =>
  s("svg", { viewBox: "0 0 16 16", "aria-hidden": "true" }, s("path", { d: ICONS[name] }));

/**
 * Milliseconds a step is shown while playing: time to read a short run, a film of a long one.
 * @param {number} steps
 */
export const pace = (steps) => (steps <= 80 ? 1500 : Math.max(90, Math.round(90_000 / steps)));

/**
 * `move(name)` is called with "first", "back", "forward" or "last"; `forward` returns false at the end.
 * @param {{ steps: number, move: (name: Move) => unknown }} options
 */
export function createTransport({ steps, move }) {
  let clock = 0;
  /**
   * @param {Move} name
   * @param {string} label
   */
  const button = (name, label) =>
    h(
      "button",
      {
        class: "btn",
        type: "button",
        "aria-label": label,
        title: label,
        onclick: () => {
          stop();
          move(name);
        },
      },
      icon(name),
    );
  const play = h("button", { class: "btn", type: "button", onclick: toggle });
  const el = h(
    "span",
    { class: "group transport", role: "group", "aria-label": "step" },
    button("first", "first step (Home)"),
    button("back", "previous step (←)"),
    play,
    button("forward", "next step (→)"),
    button("last", "last step (End)"),
  );

  function show() {
    const label = clock ? "pause (space)" : "play (space)";
    play.replaceChildren(icon(clock ? "pause" : "play"));
    play.setAttribute("aria-label", label);
    play.title = label;
  }
  function stop() {
    clearInterval(clock);
    clock = 0;
    show();
  }
  function toggle() {
    if (clock) return stop();
    clock = setInterval(() => {
      if (!el.isConnected || move("forward") === false) stop();
    }, pace(steps));
    show();
    move("forward");
  }
  show();
  return { el, toggle, stop, playing: () => clock !== 0 };
}
