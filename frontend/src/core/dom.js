// Elements are made here and nowhere else. Data only ever becomes text nodes and attribute values,
// so that a program whose names hold markup stays a program.

const SVG = "http://www.w3.org/2000/svg";
const FORBIDDEN = /^on|^srcdoc$|^innerhtml$/i;

function build(node, attributes, children) {
  for (const [key, value] of Object.entries(attributes ?? {})) set(node, key, value);
  append(node, children);
  return node;
}

/** `h("button", { class: "go", onclick: fn }, "text", child)`: an HTML element. */
export function h(tag, attributes, ...children) {
  return build(document.createElement(tag), attributes, children);
}

/** The same for SVG. */
export function s(tag, attributes, ...children) {
  return build(document.createElementNS(SVG, tag), attributes, children);
}

/** Sets one attribute: functions become listeners, `null` and `false` remove, `true` is an empty value, but a word where it is about accessibility. */
export function set(node, key, value) {
  if (typeof value === "function") node.addEventListener(key.replace(/^on/, ""), value);
  else if (FORBIDDEN.test(key)) throw new Error(`attribute ${key} must be a function`);
  else if (typeof value === "boolean" && key.startsWith("aria-")) set(node, key, String(value));
  else if (value === null || value === undefined || value === false) node.removeAttribute(key);
  else if (key === "style" && typeof value === "object")
    for (const [k, v] of Object.entries(value)) node.style.setProperty(k, v);
  else {
    const text = value === true ? "" : String(value);
    if (node.getAttribute(key) !== text) node.setAttribute(key, text);
  }
}

export function append(node, children) {
  for (const child of [children].flat(Infinity)) {
    if (child === null || child === undefined || child === false) continue;
    node.append(child instanceof Node ? child : String(child));
  }
  return node;
}

/** Replaces the children of `node`. */
export function fill(node, ...children) {
  node.replaceChildren();
  return append(node, children);
}

/** Sets the text of `node`, touching the page only when it changes. */
export function text(node, value) {
  if (node.textContent !== value) node.textContent = value;
}

let ids = 0;
/** A fresh id, for `aria-controls` and the like. */
export const uid = (prefix = "rx") => `${prefix}-${++ids}`;
