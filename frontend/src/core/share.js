// What leads elsewhere: a link to the state, bookmarks, and the buttons that go back to where a jump began.
import { shortened } from "./names.js";
import { fill, h, text } from "./dom.js";
import { MOST_BOOKMARKS } from "./history.js";
/** @import { Context, Frame } from "./types.js" */

/**
 * The buttons that go back and forward again; they are there once there is somewhere to go.
 * @param {Context} ctx
 * @param {(by: number) => unknown} revisit
 */
export function placeButtons(ctx, revisit) {
  /**
   * @param {string} sign
   * @param {string} title
   * @param {number} by
   */
  const button = (sign, title, by) =>
    h(
      "button",
      {
        class: "btn place",
        type: "button",
        title,
        "aria-label": title.replace(/ \(.*/, ""),
        onclick: () => revisit(by),
      },
      sign,
    );
  const back = button("‹", "back to where you were (Backspace)", -1);
  const forward = button("›", "forward again (Shift+Backspace)", 1);
  const el = h("span", { class: "group places", hidden: true }, back, forward);
  forward.hidden = true;
  ctx.on("places", ({ canBack, canForward }) => {
    el.hidden = !canBack && !canForward;
    back.disabled = !canBack;
    forward.hidden = !canForward;
  });
  return el;
}

/**
 * The popover that holds a link to this state, or the token where an address cannot hold it, and the bookmarks.
 * @param {Frame} frame
 * @param {Context} ctx
 * @param {{ name?: string, mark?: boolean }} options `name` is what a bookmark here is called at first; with `mark` its name has the focus
 */
export function showLink(frame, ctx, { name = "", mark = false } = {}) {
  const { url, token } = ctx.link();
  const value = url ?? `explore(…, state=${JSON.stringify(token)})`;
  /** @type {HTMLInputElement} */
  const input = h("input", {
    readonly: true,
    value,
    "aria-label": url ? "link" : "token",
    onfocus: () => input.select(),
  });
  const told = h("p", { "aria-live": "polite" });
  const why = url
    ? "This address opens the page in exactly this state."
    : "In a notebook, pass this state to explore, and the view opens in it again.";
  const { el, field } = bookmarkList(frame, ctx, name);
  const nodes = [h("p", null, why), told, h("p", { class: "heading second" }, "Bookmarks"), el];
  frame.popover(mark ? "Bookmarks and the link" : "Share this state", [input, nodes]);
  if (mark) {
    field.focus({ preventScroll: true });
    field.select();
    return;
  }
  navigator.clipboard?.writeText(value).then(
    () => {
      told.textContent = "Copied.";
    },
    () => {
      told.textContent = "Copy it with Ctrl+C.";
    },
  );
}

/**
 * The bookmarks, with a field for the name of a new one.
 * @param {Frame} frame
 * @param {Context} ctx
 * @param {string} name
 */
function bookmarkList(frame, ctx, name) {
  const { bookmarks } = ctx;
  const field = h("input", {
    type: "text",
    value: name,
    maxlength: 60,
    "aria-label": "name of the bookmark",
  });
  const problem = h("p", { class: "find-problem", role: "alert", hidden: true });
  const list = h("ul", { class: "bookmarks" });
  const where = h("p", { class: "soft" });
  function draw() {
    fill(
      list,
      bookmarks.list.map(({ name: called, token }, index) =>
        h(
          "li",
          null,
          h(
            "button",
            {
              class: "link",
              type: "button",
              title: called,
              onclick: () => {
                frame.closePopover();
                bookmarks.visit(token);
              },
            },
            called,
          ),
          h(
            "button",
            {
              class: "btn",
              type: "button",
              "aria-label": `delete the bookmark ${called}`,
              title: "delete",
              onclick: () => {
                bookmarks.remove(index);
                draw();
                field.focus({ preventScroll: true });
              },
            },
            "✕",
          ),
        ),
      ),
    );
    text(
      where,
      bookmarks.list.length === 0
        ? `None yet: up to ${MOST_BOOKMARKS} states can have a name.`
        : bookmarks.stored
          ? "This browser keeps them for this page, and the link has them."
          : "The link has them.",
    );
  }
  const form = h(
    "form",
    {
      class: "bookmark-form",
      onsubmit: (/** @type {SubmitEvent} */ event) => {
        event.preventDefault();
        const wrong = bookmarks.add(field.value, bookmarks.here());
        text(problem, wrong);
        problem.hidden = !wrong;
        draw();
      },
    },
    field,
    h("button", { class: "btn", type: "submit" }, "mark this state"),
  );
  draw();
  return { el: [form, problem, list, where], field };
}

/**
 * What a place is called: the step and the row.
 * @param {import("./explorer.js").Explorer} explorer
 */
export function nameOfPlace(explorer) {
  const { rows, count, view } = explorer;
  const row = rows?.selected >= 0 ? rows.selected : count ? explorer.cursorRow() : -1;
  const step = count ? `step ${explorer.step + 1}` : "";
  const line = row >= 0 ? shortened(rows?.text(row) ?? "") : "";
  return [step, line].filter(Boolean).join(": ") || view.title;
}
