// The boxes beside the program: code, registers, and one of stack, memory and reasons; on phones all are tabs.
import { h } from "../../core/dom.js";
import { createTabs } from "../../core/tabs.js";
/** @import { MachineExplorer } from "./view.js" */

export const TABS = [
  { id: "program", label: "Program" },
  { id: "code", label: "Code" },
  { id: "regs", label: "Registers" },
  { id: "stack", label: "Stack" },
  { id: "memory", label: "Memory" },
  { id: "why", label: "Why" },
];
export const SIDE = [
  { id: "stack", label: "Stack" },
  { id: "memory", label: "Memory" },
  { id: "why", label: "Why" },
];

const pane = (name, label) =>
  h("div", { class: `pane ${name}-pane`, tabindex: 0, role: label ? "group" : null, "aria-label": label });
const head = (...parts) => h("div", { class: "pane-head" }, parts);

/**
 * The parts that a MachineExplorer draws into. `onFunction(index)`, `onSide()`, `onTab(id)`: what the reader chose.
 * @param {MachineExplorer} explorer
 */
export function createBoxes({ run }, { onFunction, onSide, onTab }) {
  const panes = { stack: pane("stack"), memory: pane("memory"), why: pane("why") };
  const codePane = pane("code", "code");
  const regsPane = pane("regs", "registers");
  const regsHead = h("span", null);
  const choice = h(
    "select",
    { "aria-label": "which function's code", onchange: () => onFunction(Number(choice.value)) },
    run.functions.map((fn) => h("option", { value: fn.index }, fn.name)),
  );
  const tabs = createTabs({
    label: "what to show beside the code",
    selected: "stack",
    items: SIDE.map((item) => ({ ...item, pane: panes[item.id] })),
    onSelect: (id, byReader) => {
      if (byReader) onSide();
    },
  });
  const narrowTabs = createTabs({
    label: "what to show",
    className: "narrow",
    selected: "code",
    items: TABS,
    onSelect: (id, byReader) => {
      if (byReader) onTab(id);
    },
  });
  const boxes = [
    h("div", { class: "vm-box code-box" }, head(h("b", null, "code"), choice), codePane),
    h("div", { class: "vm-box regs-box" }, head(h("b", null, "registers"), regsHead), regsPane),
    h("div", { class: "vm-box vm-side" }, tabs.el, Object.values(panes)),
  ];
  return { panes, codePane, regsPane, regsHead, choice, tabs, narrowTabs, boxes };
}
