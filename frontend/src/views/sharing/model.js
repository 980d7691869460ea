// What the sharing view knows: one computation in several forms, and which lines of them compute the same thing.
/** @import { Form, SharingView } from "../../generated/sharing.js" */

/** @typedef {ReturnType<typeof createModel>} SharingModel */

/**
 * "640 B", "1.5 kB", "2 MB".
 * @param {number} bytes
 */
export function size(bytes) {
  const [unit, name] =
    bytes >= 1e9 ? [1e9, "GB"] : bytes >= 1e6 ? [1e6, "MB"] : bytes >= 1e4 ? [1e3, "kB"] : [1, "B"];
  return `${Number((bytes / unit).toPrecision(3)).toLocaleString("en")} ${name}`;
}

/**
 * A form with its rows counted from its own first one; `items` by row.
 * @param {SharingView} view
 * @param {Form} form
 */
function formOf(view, form) {
  const { first, last } = form;
  const rows =
    first < 0
      ? []
      : view.rows.slice(first, last + 1).map((row) => ({ ...row, end: row.end < 0 ? -1 : row.end - first }));
  const items = form.items.map((item) => ({ ...item, row: item.row < 0 ? -1 : item.row - first }));
  const on = rows.map(() => []);
  for (const item of items) on[item.row]?.push(item);
  // A line that computes nothing names a parameter, a function or a result: its first name is its key.
  const keyOf = rows.map(
    (row, i) =>
      on[i][0]?.key ??
      row.tokens.map(({ ref }) => ref).find((ref) => ref >= 0 && ref < view.keys.length) ??
      -1,
  );
  return {
    name: form.name,
    say: form.say,
    rows,
    items,
    on,
    keyOf,
    steps: form.steps,
    total: form.total,
    live: form.live,
    peak: form.peak,
    runs: items.reduce((sum, item) => sum + item.runs, 0),
    program: { reference: /** @type {any} */ (view).reference, rows },
    written: first >= 0,
  };
}

/**
 * `{ start, forms, steps, bytes, runsOf(key), made(form, step) }`: `steps` and `bytes` are the longest and the highest of all;
 * `start` is what is shown first: the peak, and what is copied most often.
 * @param {SharingView} view
 */
export function createModel(view) {
  const forms = view.forms.map((form) => formOf(view, form));
  const steps = Math.max(1, ...forms.map((form) => form.steps));
  const made = forms.map((form) => {
    const at = new Map();
    for (const item of form.items)
      for (const life of item.lives) at.set(life.made, [...(at.get(life.made) ?? []), item]);
    return at;
  });
  const written = forms.filter((form) => form.written);
  const highest = written.reduce(
    (best, form) => (form.peak.bytes > (best?.peak.bytes ?? -1) ? form : best),
    null,
  );
  /** The key that the forms differ in most: the one with the most copies; -1 where nothing is copied. */
  const copied = () => {
    const most = { key: -1, copies: 1 };
    for (const form of written)
      for (const key of new Set(form.items.map((item) => item.key))) {
        const copies = form.items.filter((item) => item.key === key).length;
        if (copies > most.copies) Object.assign(most, { key, copies });
      }
    return most.key;
  };
  return {
    start: { step: Math.max(0, Math.min(steps - 1, highest?.peak.step ?? 0)), key: copied() },
    forms,
    steps,
    bytes: Math.max(1, ...forms.flatMap((form) => form.live), ...forms.map((form) => form.peak.bytes)),
    /** @param {number} key */
    name: (key) => view.keys[key].name,
    /** @param {number} key */
    what: (key) => view.keys[key].what,
    /**
     * How often a key is evaluated in each form, and by how many expressions.
     * @param {number} key
     */
    runsOf: (key) =>
      forms.map((form) => {
        const own = form.items.filter((item) => item.key === key);
        return { runs: own.reduce((sum, item) => sum + item.runs, 0), copies: own.length };
      }),
    /**
     * The items that a form evaluates at a step.
     * @param {number} step
     * @param {number} form
     */
    made: (form, step) => made[form].get(step) ?? [],
  };
}
