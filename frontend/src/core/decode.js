// Turns a view's JSON into objects, once, when it is mounted, and holds it to its contract while doing so. The contract is
// the table in ../generated/schema.js: texts come out as strings, lists of fields as objects that name them.
import { SCHEMA } from "../generated/schema.js";
import { Damage } from "./check.js";

/** @import { BaseView } from "../generated/common.js" */

/** @typedef {{ up: Scope | null, at: number, count: (name: string) => number | undefined }} Scope */
/** What a field holds, as the table writes it: its kind, then what the kind asks for. @typedef {readonly any[]} Type */
/** @typedef {(typeof SCHEMA)["records"][string]} RecordType */

const isInteger = Number.isInteger;

/**
 * The number of elements of what a field holds on the wire, or the number itself.
 * @param {Type} type
 * @param {any} value
 */
function sizeOf(type, value) {
  if (type[0] === "count" && isInteger(value)) return value;
  if (!Array.isArray(value) || type[1]?.[0] === "index") return undefined;
  return type[0] === "list" && type[2]
    ? value.length / SCHEMA.records[type[1][1]].fields.length
    : value.length;
}

class Decoder {
  /** @param {string[]} strings */
  constructor(strings) {
    this.strings = strings;
    /** @type {(string | number)[]} */
    this.path = [];
  }

  /** @returns {never} */
  fail() {
    throw new Damage(
      this.path
        .map((part) => (typeof part === "number" ? `[${part}]` : `.${part}`))
        .join("")
        .slice(1) || "the whole",
    );
  }

  /** @param {unknown} condition */
  need(condition) {
    if (!condition) this.fail();
  }

  /** @param {any} value */
  text(value) {
    this.need(isInteger(value) && value >= 0 && value < this.strings.length);
    return this.strings[value];
  }

  /**
   * How many there are of what an index points into: a field of its own record, or of one around it, that is no list of indices.
   * @param {string} of
   * @param {Scope | null} scope
   * @returns {number}
   */
  limit(of, scope) {
    if (of === "strings") return this.strings.length;
    for (let at = scope; at; at = at.up) {
      const count = at.count(of);
      if (count !== undefined) return count;
    }
    return this.fail();
  }

  /**
   * @param {any} value
   * @param {Type} type
   * @param {Scope} scope
   * @param {number} place
   * @returns {number}
   */
  index(value, [, of, none = 0, order = ""], scope, place) {
    const from = order === "later" ? scope.at + 1 : order === "later item" ? place + 1 : 0;
    const to = order === "earlier" ? scope.at : this.limit(of, scope);
    this.need(isInteger(value) && ((value >= from && value < to) || (none && value === -1)));
    return value;
  }

  /**
   * @param {Type} type
   * @param {any} value
   * @param {Scope} scope
   * @returns {any}
   */
  value(type, value, scope, place = -1) {
    switch (type[0]) {
      case "text":
        return this.text(value);
      case "index":
        return this.index(value, type, scope, place);
      case "count":
        this.need(isInteger(value) && value >= (type[1] ?? 0));
        return value;
      case "integer":
        this.need(isInteger(value));
        return value;
      case "number":
        this.need(Number.isFinite(value));
        return value;
      case "enum":
        this.need(isInteger(value) && value >= 0 && value < type[1]);
        return value;
      case "flag":
        this.need(value === 0 || value === 1 || typeof value === "boolean");
        return Boolean(value);
      case "word":
        this.need(typeof value === "string" && (type.length === 1 || type.indexOf(value, 1) > 0));
        return value;
      case "say":
        return this.list(value, (part) => this.text(part), type[1] ? 0 : 1);
      case "entity":
        return value < 0 ? this.text(-1 - value) : this.index(value, type, scope, place);
      case "optional":
        return value === null || value === undefined ? null : this.value(type[1], value, scope, place);
      case "map":
        return this.map(type[1], value, scope);
      case "record":
        return this.record(SCHEMA.records[type[1]], value, scope, place);
      case "union":
        return this.member(type, value, scope, place);
      case "view":
        this.need(value?.view === type[1]);
        return this.nested(value);
      default:
        return this.elements(type, value, scope);
    }
  }

  /**
   * @param {any} value
   * @param {(part: any, index: number) => unknown} decode
   * @returns {any[]}
   */
  list(value, decode, least = 0) {
    this.need(Array.isArray(value) && value.length >= least);
    const depth = this.path.length;
    const result = value.map((/** @type {any} */ part, /** @type {number} */ i) => {
      this.path[depth] = i;
      return decode(part, i);
    });
    this.path.length = depth;
    return result;
  }

  /**
   * @param {Type} type
   * @param {any} value
   * @param {Scope} scope
   */
  elements([, of, flat, , size = "", least = 0], value, scope) {
    const records = flat ? this.split(value, SCHEMA.records[of[1]].fields.length) : value;
    const result = this.list(
      records,
      (/** @type {any} */ part, /** @type {number} */ i) => this.value(of, part, scope, i),
      least,
    );
    if (size) this.need(result.length === this.limit(size, scope));
    // A change of a kind that this version does not know is passed over.
    return of[0] === "union" ? result.filter((part) => part !== undefined) : result;
  }

  /**
   * A flat list as one of lists.
   * @param {any} value
   * @param {number} width
   */
  split(value, width) {
    this.need(Array.isArray(value) && value.length % width === 0);
    return Array.from({ length: value.length / width }, (_, i) => value.slice(i * width, (i + 1) * width));
  }

  /**
   * @param {Type} of
   * @param {any} value
   * @param {Scope} scope
   */
  map(of, value, scope) {
    this.need(value !== null && typeof value === "object");
    return Object.fromEntries(
      Object.entries(value).map(([name, part]) => [name, this.value(of, part, scope)]),
    );
  }

  /**
   * @param {Type} type
   * @param {any} value
   * @param {Scope} scope
   * @param {number} place
   */
  member([, ...names], value, scope, place) {
    this.need(Array.isArray(value));
    const name = names.find((member) => SCHEMA.records[member].tag === value[0]);
    return name === undefined ? undefined : this.record(SCHEMA.records[name], value, scope, place);
  }

  /**
   * @param {RecordType} type
   * @param {any} value
   * @param {Scope} up
   * @param {number} place
   * @returns {Record<string, any>}
   */
  record({ fields, object }, value, up, place) {
    this.need(value !== null && typeof value === "object" && Array.isArray(value) === !object);
    const last = fields.at(-1)?.[1];
    const spread = !object && last?.[0] === "list" && last[3];
    const wire = object
      ? this.named(fields, value)
      : spread
        ? [...value.slice(0, fields.length - 1), value.slice(fields.length - 1)]
        : value;
    const omitted = !object && fields.at(-1)?.[2]?.[3] ? 1 : 0;
    this.need(wire.length === fields.length || wire.length === fields.length - omitted);
    const scope = {
      up,
      at: place >= 0 ? place : (up?.at ?? -1),
      count(/** @type {string} */ of) {
        const i = fields.findIndex(([name]) => name === of);
        return i < 0 ? undefined : sizeOf(fields[i][1], wire[i]);
      },
    };
    /** @type {Record<string, unknown>} */
    const result = {};
    const depth = this.path.length;
    fields.forEach(([name, type], i) => {
      this.path[depth] = name;
      result[name] =
        omitted && i === wire.length ? (type[0] === "text" ? "" : null) : this.value(type, wire[i], scope);
    });
    this.path.length = depth;
    return result;
  }

  /**
   * The fields of an object in the order of its record.
   * @param {RecordType["fields"]} fields
   * @param {any} value
   * @returns {any[]}
   */
  named(fields, value) {
    const spans = new Map();
    return fields.map(([name, [kind], [key, inside, span, omitted] = ["", "", "", 0]]) => {
      if (span) {
        const at = spans.get(span) ?? 0;
        spans.set(span, at + 1);
        return value[span]?.[at];
      }
      const holder = inside ? value[inside] : value;
      const part = holder?.[key || name];
      if (part !== undefined || !omitted) return part;
      return kind === "flag" ? 0 : kind === "list" ? [] : null;
    });
  }

  /** @param {any} view */
  nested(view) {
    return decode(view, this.path);
  }
}

/**
 * The objects of a view's JSON; a Damage where it is not what its dataclasses say.
 * @param {any} view
 * @param {(string | number)[]} path where it stands, if inside another
 * @returns {BaseView & Record<string, any>}
 */
export function decode(view, path = []) {
  const name = SCHEMA.views[view?.view];
  const strings = view?.strings;
  const decoder = new Decoder(Array.isArray(strings) ? strings : []);
  decoder.path = [...path];
  const need = (/** @type {boolean} */ condition, /** @type {string} */ where) => {
    if (!condition) throw new Damage(where);
  };
  need(name !== undefined, "view");
  need(typeof view.title === "string" && typeof view.summary === "string", "title or summary");
  const { opening = "", editable = "" } = view;
  need(typeof opening === "string" && typeof editable === "string", "opening or editable");
  need(Array.isArray(strings) && strings.every((text) => typeof text === "string"), "strings");
  const rows = view.program?.rows;
  need(Array.isArray(rows), "program");
  /** @type {Scope} */
  const root = { up: null, at: -1, count: (of) => (of === "rows" ? rows.length : undefined) };
  decoder.path.push("rows");
  const decoded = decoder.value(["list", ["record", "common.Row"]], rows, root);
  decoder.path.pop();
  const own = decoder.record(SCHEMA.records[name], view, root, -1);
  return {
    view: view.view,
    title: view.title,
    summary: view.summary,
    opening,
    editable,
    rows: decoded,
    ...own,
  };
}
