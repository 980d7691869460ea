// The panes beside the rows: the arena, addresses against time; and what is in use at this step.
import { fill, h, s } from "../../core/dom.js";
import { size } from "../fusion/columns.js";
import { bufferName } from "./columns.js";
import { arenaBoxes } from "./model.js";
/** @import { MemoryModel } from "./model.js" */

const MOST_LISTED = 200;
const LABEL = 26;
const CHAR = 6.6;
const LEAST_BAND = 11;

/**
 * The picture of the arena. `draw(variant)` draws it anew, `seek(step)` moves the line; `onLife(life)` is called on a click.
 * @param {MemoryModel} model
 * @param {HTMLDivElement} pane
 */
export function createArena(model, pane, { onLife, onHover, onSeek }) {
  const svg = s("svg", { class: "arena", role: "img" });
  const note = h(
    "p",
    { class: "soft arena-note" },
    "Addresses increase downwards, steps to the right; each box is a value in its buffer.",
  );
  const tip = h("p", { class: "arena-tip", "aria-hidden": "true" });
  fill(pane, note, svg, tip);
  let shown = null;
  let drawn = "";
  let layout = null;
  let step = 0;

  function draw(variant = shown) {
    shown = variant;
    const [width, height] = [svg.clientWidth, svg.clientHeight];
    const asked = `${variant?.index} ${width} ${height}`;
    if (!width || !variant || asked === drawn) return;
    drawn = asked;
    layout = { ...arenaBoxes(variant, width - LABEL - 1, height - 2), height };
    svg.setAttribute("viewBox", `0 0 ${width} ${height}`);
    svg.setAttribute(
      "aria-label",
      `${variant.buffers.length} buffers of ${size(variant.totals.arena)}: ${variant.lives.length} values, one after another`,
    );
    const paths = new Map();
    const labels = [];
    layout.boxes.forEach(({ x, y, w, h: tall }, i) => {
      const { buffer, name } = variant.lives[i];
      const { tint } = variant.buffers[buffer];
      const gap = w > 4 ? 1 : 0.2;
      paths.set(
        tint,
        `${paths.get(tint) ?? ""}M${(LABEL + x + gap / 2).toFixed(1)} ${(y + 1.5).toFixed(1)}h${Math.max(0.6, w - gap).toFixed(1)}v${Math.max(0.8, tall - 1).toFixed(1)}h${(-Math.max(0.6, w - gap)).toFixed(1)}z`,
      );
      const room = Math.floor((w - 8) / CHAR);
      const short = name.split(" ")[0];
      if (tall >= 13 && room >= short.length)
        labels.push(
          s(
            "text",
            { x: LABEL + x + 5, y: y + Math.min(tall / 2 + 4.5, 16) + 0.5 },
            name.length <= room ? name : short,
          ),
        );
    });
    const bands = layout.bands.map(({ y, h: tall }, i) => [
      s("rect", {
        class: "band",
        x: LABEL,
        y: y + 1.5,
        width: width - LABEL - 1,
        height: Math.max(0.8, tall - 1),
      }),
      tall >= LEAST_BAND &&
        s(
          "text",
          { class: "band-name", x: LABEL - 5, y: y + Math.min(tall / 2 + 4.5, 16), "text-anchor": "end" },
          bufferName(i),
        ),
    ]);
    fill(
      svg,
      bands,
      [...paths].map(([tint, d]) => s("path", { class: `box k${tint}`, d })),
      labels,
      s("rect", { class: "at-step" }),
      s("path", { class: "lit" }),
    );
    seek(step);
  }

  /** @param {number} to */
  function seek(to) {
    step = to;
    if (!layout) return;
    const line = svg.querySelector(".at-step");
    for (const [key, value] of Object.entries({
      x: LABEL + step * layout.column,
      y: 0,
      width: Math.max(1.5, layout.column),
      height: layout.height,
    }))
      line.setAttribute(key, String(value));
  }

  function light(life) {
    const box = layout?.boxes[life];
    svg
      .querySelector(".lit")
      ?.setAttribute("d", box ? `M${LABEL + box.x} ${box.y + 1}h${box.w}v${box.h}h${-box.w}z` : "");
    const known = box && shown.lives[life];
    tip.textContent = known
      ? `${known.name}: ${bufferName(known.buffer)}, ${size(known.bytes)}, steps ${known.made} to ${known.last}`
      : "";
  }

  /** @param {PointerEvent} event */
  function at(event) {
    const area = svg.getBoundingClientRect();
    const [x, y] = [event.clientX - area.left - LABEL, event.clientY - area.top];
    return layout
      ? layout.boxes.findIndex(
          (box) => x >= box.x && x < box.x + box.w && y >= box.y && y <= box.y + box.h + 1,
        )
      : -1;
  }

  svg.addEventListener("pointermove", (event) => onHover(at(event)));
  svg.addEventListener("pointerleave", () => onHover(-1));
  svg.addEventListener("click", (event) => {
    const life = at(event);
    if (life >= 0) onLife(life);
    else if (layout)
      onSeek(
        Math.max(
          0,
          Math.min(
            shown.steps.length - 1,
            Math.floor((event.clientX - svg.getBoundingClientRect().left - LABEL) / layout.column),
          ),
        ),
      );
  });
  const sizes = new ResizeObserver(() => draw());
  sizes.observe(svg);
  return { draw, seek, light, destroy: () => sizes.disconnect() };
}

/**
 * What is in use at a step: values with their size, the largest first.
 * @param {MemoryModel} model
 * @param {HTMLDivElement} pane
 */
export function drawInUse(model, pane, { variant, step }, onLife) {
  const using = variant.inUse(step);
  const { makes, reads, frees } = variant.steps[step];
  const most = Math.max(1, ...using.map((i) => variant.lives[i].bytes));
  const word = (i) =>
    [
      makes.includes(i) && "created here",
      reads.includes(i) && "read",
      frees.includes(i) && variant.lives[i].last === step && "then freed",
    ]
      .filter(Boolean)
      .join(", ");
  const entry = (i) => {
    const { name, buffer, bytes } = variant.lives[i];
    const { tint } = variant.buffers[buffer];
    return h(
      "li",
      null,
      h(
        "button",
        { class: "entry", type: "button", onclick: () => onLife(i) },
        h("b", { class: `buf k${tint}` }, bufferName(buffer)),
        h("code", null, name),
        h("span", { class: "note" }, word(i)),
        h(
          "span",
          { class: "meter", "aria-hidden": "true" },
          h("i", { class: `k${tint}`, style: { width: `${Math.max(2, (100 * bytes) / most)}%` } }),
        ),
        h("span", { class: "size" }, size(bytes)),
      ),
    );
  };
  const { peak } = variant.totals;
  fill(
    pane,
    h(
      "p",
      { class: "ask" },
      `Live: ${size(variant.live[step])}`,
      h(
        "span",
        { class: "soft" },
        variant.live[step] === peak ? " — the peak" : ` of ${size(peak)} at the peak`,
      ),
    ),
    using.length
      ? h("ol", { class: "in-use" }, using.slice(0, MOST_LISTED).map(entry))
      : h("p", { class: "soft" }, "Nothing is stored yet."),
    using.length > MOST_LISTED && h("p", { class: "soft" }, `and ${using.length - MOST_LISTED} more`),
  );
}
