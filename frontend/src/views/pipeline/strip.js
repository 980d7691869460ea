// The film strip: one frame a stage, one strip a pipeline. A frame says what its pass changed, and how the expression that
// is followed is called there.
import { fill, h, set } from "../../core/dom.js";
import { MARKS } from "./marks.js";
/** @import { PipelineModel } from "./model.js" */

/** "3 rewritten, 1 added", for a reader who hears it. */
export const changesInWords = (stage) =>
  stage.before < 0
    ? "as given"
    : stage.counts
        .map((n, mark) => (mark > 0 && n > 0 ? `${n} ${MARKS[mark].word}` : ""))
        .filter(Boolean)
        .join(", ") || (stage.same ? "no change" : "no row changed");

function changes(stage) {
  if (stage.before < 0) return "the start";
  if (stage.same) return "no change";
  const shown = stage.counts.map(
    (n, mark) => mark > 0 && n > 0 && h("span", { class: `s-${MARKS[mark].id}` }, `${MARKS[mark].sign}${n}`),
  );
  return shown.some(Boolean) ? shown : "no row changed";
}

/**
 * `onGo(pipe, at)` is called with a pipeline and a position in it.
 * @param {PipelineModel} model
 */
export function createStrip(model, onGo) {
  const frames = model.pipelines.map(({ list }, pipe) =>
    list.map((index, at) => {
      const stage = model.stages[index];
      const tick = h("span", { class: "tick", hidden: true });
      const followed = h("span", { class: "sr", hidden: true }, "; followed: ");
      const button = h(
        "button",
        {
          class: `shot${stage.same ? " idle" : ""}`,
          type: "button",
          tabindex: -1,
          onclick: () => onGo(pipe, at),
        },
        h(
          "span",
          { class: "shot-name" },
          h("span", { class: "number" }, String(at)),
          h("span", { class: "shot-title" }, stage.name),
        ),
        h("span", { class: "changes", "aria-hidden": "true" }, changes(stage)),
        h("span", { class: "sr" }, `, ${changesInWords(stage)}`),
        followed,
        tick,
      );
      return { button, tick, followed, stage, item: h("li", null, button) };
    }),
  );
  const el = h(
    "div",
    { class: `strips${frames.length > 1 ? " several" : ""}`, role: "group", "aria-label": "passes" },
    frames.map((list, pipe) =>
      h(
        "div",
        { class: "strip" },
        frames.length > 1 && h("span", { class: "strip-name" }, model.pipelines[pipe].name),
        h(
          "ol",
          { class: "film", "aria-label": model.pipelines[pipe].name },
          list.map(({ item }) => item),
        ),
      ),
    ),
  );

  /** The frames that are shown now. @type {HTMLButtonElement[]} */
  let shown = [];

  /**
   * Only the film moves, never the page.
   * @param {HTMLButtonElement} chosen
   */
  function bring(chosen) {
    const film = chosen.closest(".film");
    const [a, b] = [film.getBoundingClientRect(), chosen.getBoundingClientRect()];
    if (b.left < a.left || b.right > a.right) film.scrollLeft += b.left - a.left - (a.width - b.width) / 2;
  }

  /** `names[pipe][at]`: how the followed expression is called there ("" where it is not), or null when none is followed. */
  function draw({ pipe, at, names, only }) {
    el.classList.toggle("only", only);
    frames.forEach((list, p) =>
      list.forEach(({ button, tick, followed, stage }, i) => {
        const here = p === pipe && i === at;
        const name = names?.[p][i];
        set(button, "aria-current", here ? "step" : null);
        button.tabIndex = here ? 0 : -1;
        tick.hidden = followed.hidden = !names;
        tick.classList.toggle("absent", !name);
        fill(tick, name ? h("code", null, name) : "not here");
        set(button, "title", `${stage.name}: ${changesInWords(stage)}${stage.what ? `\n${stage.what}` : ""}`);
      }),
    );
    shown = [frames[pipe][at].button];
  }
  return {
    el,
    draw,
    /** Brings what is shown into the film. It reads the layout: after everything is drawn. */
    look: () => shown.forEach(bring),
    focus: (/** @type {number} */ pipe, at) => frames[pipe][at].button.focus({ preventScroll: true }),
  };
}
