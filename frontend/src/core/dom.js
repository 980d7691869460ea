// Elements are made here and nowhere else. Data only ever becomes text nodes and attribute values,
// so that a program whose names hold markup stays a program.

/** @import { Attributes, Child } from "./types.js" */

const SVG = "http://www.w3.org/2000/svg";
const FORBIDDEN = /^on|^srcdoc$|^innerhtml$/i;

/**
 * @template {Element} E
 * @param {E} node
 * @param {Attributes | null | undefined} attributes
 * @param {readonly Child[]} children
 */
function build(node, attributes, children) {
  for (const [key, value] of Object.entries(attributes ?? {})) set(node, key, value);
  append(node, children);
  return node;
}

/**
 * Make an HTML element: `h("button", { class: "go", onclick: fn }, "text", child)`.
 * @template {keyof HTMLElementTagNameMap} T
 * @param {T} tag
 * @param {Attributes | null} [attributes]
 * @param {...Child} children
 */
export function h(tag, attributes, ...children) {
  return build(document.createElement(tag), attributes, children);
}

/**
 * Make an SVG element.
 * @template {keyof SVGElementTagNameMap} T
 * @param {T} tag
 * @param {Attributes | null} [attributes]
 * @param {...Child} children
 */
export function s(tag, attributes, ...children) {
  return build(document.createElementNS(SVG, tag), attributes, children);
}

/**
 * Set one attribute: functions become listeners, `null` and `false` remove, `true` is an empty value, but a word where it is
 * about accessibility.
 * @param {Element} node
 * @param {string} key
 * @param {unknown} value
 * @returns {void}
 */
export function set(node, key, value) {
  if (typeof value === "function")
    node.addEventListener(key.replace(/^on/, ""), /** @type {EventListener} */ (value));
  else if (FORBIDDEN.test(key)) throw new Error(`attribute ${key} must be a function`);
  else if (typeof value === "boolean" && key.startsWith("aria-")) set(node, key, String(value));
  else if (value === null || value === undefined || value === false) node.removeAttribute(key);
  else if (key === "style" && typeof value === "object")
    for (const [k, v] of Object.entries(value)) /** @type {HTMLElement} */ (node).style.setProperty(k, v);
  else {
    const text = value === true ? "" : String(value);
    if (node.getAttribute(key) !== text) node.setAttribute(key, text);
  }
}

/**
 * @template {Element | DocumentFragment} E
 * @param {E} node
 * @param {Child} children
 */
export function append(node, children) {
  for (const child of /** @type {any[]} */ ([children]).flat(Infinity)) {
    if (child === null || child === undefined || child === false) continue;
    node.append(child instanceof Node ? child : String(child));
  }
  return node;
}

/**
 * Replace the children of `node`.
 * @template {Element} E
 * @param {E} node
 * @param {...Child} children
 */
export function fill(node, ...children) {
  node.replaceChildren();
  return append(node, children);
}

/**
 * Set the text of `node`, touching the page only when it changes.
 * @param {Element} node
 * @param {string} value
 */
export function text(node, value) {
  if (node.textContent !== value) node.textContent = value;
}

/**
 * What has the focus, also where `node` stands in a shadow root.
 * @param {Node} node
 * @returns {HTMLElement | null}
 */
export const activeIn = (node) =>
  /** @type {HTMLElement | null} */ (/** @type {Document | ShadowRoot} */ (node.getRootNode()).activeElement);

/**
 * The element that an event is about.
 * @param {Event} event
 */
export const targetOf = (event) => /** @type {HTMLElement} */ (event.target);

/**
 * The innermost element around what an event is about that fits `selector`.
 * @param {Event} event
 * @param {string} selector
 * @returns {HTMLElement | null}
 */
export const closestTo = (event, selector) => targetOf(event).closest?.(selector) ?? null;

let ids = 0;
/** A fresh id, for `aria-controls` and the like. */
export const uid = (prefix = "rx") => `${prefix}-${++ids}`;
