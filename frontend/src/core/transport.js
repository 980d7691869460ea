// First, back, play, forward, last: the buttons, the clock behind play, and how fast it goes.
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

const SPEEDS = [
  ["0.5", "½×"],
  ["1", "1×"],
  ["2", "2×"],
  ["4", "4×"],
  ["read", "to read"],
];

/**
 * Milliseconds a step is shown while playing: time to read a short run, a film of a long one.
 * @param {number} steps
 */
export const pace = (steps) => (steps <= 80 ? 1500 : Math.max(90, Math.round(90_000 / steps)));

/**
 * Milliseconds in which most people read a text of so many characters: about 200 words a minute, and a look at the rows.
 * @param {number} characters
 */
export const readingTime = (characters) => 900 + 55 * characters;

/**
 * `move(name)` is called with "first", "back", "forward" or "last"; `forward` returns false at the end. `characters()` is the
 * length of the sentence that is shown. `speed` is the choice of how fast to play.
 * @param {{ steps: number, move: (name: Move) => unknown, characters?: () => number }} options
 */
export function createTransport({ steps, move, characters = () => 0 }) {
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
  const speed = h(
    "select",
    {
      class: "speed",
      "aria-label": "speed of play",
      title: "speed of play",
      onchange: () => clock && start(),
    },
    SPEEDS.map(([value, label]) => h("option", { value, selected: value === "1" }, label)),
  );

  function show() {
    const label = clock ? "pause (space)" : "play (space)";
    play.replaceChildren(icon(clock ? "pause" : "play"));
    play.setAttribute("aria-label", label);
    play.title = label;
  }
  function stop() {
    clearTimeout(clock);
    clock = 0;
    show();
  }
  /** Waits as long as the step on the screen is to be seen, and goes on. */
  function start() {
    clearTimeout(clock);
    const wait = speed.value === "read" ? readingTime(characters()) : pace(steps) / Number(speed.value);
    clock = setTimeout(() => {
      if (!el.isConnected || move("forward") === false) stop();
      else start();
    }, wait);
  }
  function toggle() {
    if (clock) return stop();
    if (speed.value !== "read") move("forward");
    start();
    show();
  }
  show();
  return { el, speed, toggle, stop, playing: () => clock !== 0 };
}
