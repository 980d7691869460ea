// What of the heap is drawn, and as what: cells in a row for a list, boxes below one another for a tree. It knows
// values only by the parts they have and by the role that the data gives each part.
//
// A value is `{ id, label, parts: [{ name, id, text, role }], past }`: a part is another value (`id`) or only a text (id -1);
// `past` are the texts of what a cell held before.

/** Boxes and cells in one picture at most; the rest is counted. */
export const MOST = 150;
export const ROLE = { content: 0, rest: 1, subtree: 2, subtrees: 3 };
/** A chain longer than this shows its ends and what matters. */
const LONG = 16;
const AROUND = 2;
const SEARCHED = 100_000;

const partsOf = (get, id) => get(id).parts.filter((part) => part.id >= 0);

/** A value without parts stands inside the box that holds it: a tensor, a function that captured nothing. */
export const leaf = (get, id) => get(id).parts.length === 0;

/** The part that goes on a chain, or undefined. */
const restOf = (get, id) => get(id).parts.find((part) => part.role === ROLE.rest && part.id >= 0);

/** The roots that no other root reaches, in their order, and for everything that they reach which of them holds it first. */
export function reach(get, roots) {
  const inner = new Set();
  for (const root of roots) {
    if (inner.has(root)) continue;
    const seen = new Set([root]);
    const open = [root];
    while (open.length && seen.size < SEARCHED)
      for (const part of partsOf(get, open.pop()))
        if (!seen.has(part.id)) {
          seen.add(part.id);
          open.push(part.id);
        }
    // What a root reaches is no root itself; in a ring the first one stays.
    for (const id of seen) if (id !== root) inner.add(id);
  }
  const top = roots.filter((root) => !inner.has(root));
  const holder = new Map(top.map((root) => [root, -1]));
  for (const root of top) {
    const open = [root];
    while (open.length && holder.size < SEARCHED) {
      const id = open.pop();
      // The rest of a chain belongs to the chain, even if another root holds it later.
      const parts = partsOf(get, id).filter((part) => !holder.has(part.id));
      for (const part of parts) if (!holder.has(part.id)) holder.set(part.id, id);
      open.push(...new Set(parts.map((part) => part.id).reverse()));
    }
  }
  return { top, holder };
}

/** The objects on the paths from the roots to the objects that are needed. */
function ways(holder, wanted) {
  const out = new Set();
  for (const id of wanted)
    for (let at = id; at >= 0 && holder.has(at) && !out.has(at); at = holder.get(at)) out.add(at);
  return out;
}

/** The values of a chain from `first` on, as long as each is held first by the one before. */
function chainFrom(get, holder, first) {
  const chain = [first];
  for (
    let rest = restOf(get, first);
    rest && holder.get(rest.id) === chain.at(-1) && chain.length < SEARCHED;
    rest = restOf(get, rest.id)
  )
    chain.push(rest.id);
  return chain;
}

/** Of a long chain: both ends, what matters and its neighbours; runs of the others become gaps. */
function shorten(chain, matters) {
  if (chain.length <= LONG) return chain.map((id) => ({ id, gap: 0 }));
  const keep = new Set([0, 1, 2, chain.length - 2, chain.length - 1]);
  chain.forEach((id, i) => {
    if (matters(id)) for (let near = i - AROUND; near <= i + AROUND; near++) keep.add(near);
  });
  const out = [];
  chain.forEach((id, i) => {
    if (keep.has(i)) out.push({ id, gap: 0 });
    else if (out.at(-1).gap) out.at(-1).gap += 1;
    else out.push({ id: -1, gap: 1 });
  });
  return out;
}

/** How many values hang below `id`, itself included, that nothing else held first. */
function below(get, holder, id) {
  let count = 0;
  const open = [id];
  while (open.length && count < SEARCHED) {
    const at = open.pop();
    count += 1;
    for (const part of partsOf(get, at)) if (holder.get(part.id) === at) open.push(part.id);
  }
  return count;
}

/**
 * The picture as units, one tree for each root: a unit is a row of cells and the units below it.
 *
 *     unit = { cells: [cell], children: [{ cell, seg, unit }] }
 *     cell = { id, gap, segs: [seg] }
 *     seg  = { id, text, kind: "label" | "text" | "past" | "dot" | "stub", name }    `id`: the value that the piece stands for or lies in
 *
 * `links`: dots whose value is drawn elsewhere, `{ unit, cell, seg, to }`. `left`: values that are not drawn.
 */
export function shape(get, roots, wanted = new Set(), most = MOST) {
  const { top, holder } = reach(get, roots);
  const way = ways(holder, wanted);
  const links = [];
  const drawn = new Set();
  const queue = [];
  let count = 0;
  let left = 0;
  const asked = new Set();
  const ask = (id, put) =>
    asked.add(id) && (way.has(id) ? queue.unshift({ id, put }) : queue.push({ id, put }));
  const units = [];
  for (const root of top)
    queue.push({
      id: root,
      /** @param {{ cells: any[], children: any[] }} unit */
      put: (unit) => units.push(unit),
      skip: () => {
        left += below(get, holder, root);
      },
    });

  /**
   * @param {{ cells: any[], children: any[] }} unit
   * @param {number} at
   * @param {boolean} rest
   */
  function pieces(unit, at, cell, owner, rest) {
    for (const text of get(owner).past ?? []) cell.segs.push({ id: owner, text, kind: "past", name: "" });
    for (const part of get(owner).parts) {
      if (rest && part.role === ROLE.rest && part.id >= 0) continue;
      const seg = { id: part.id >= 0 ? part.id : owner, text: part.text, kind: "text", name: part.name };
      const put = () => cell.segs.push(seg) - 1;
      if (part.id < 0 || leaf(get, part.id)) {
        if (part.id >= 0) drawn.add(part.id);
        put();
      } else if (holder.get(part.id) !== owner || asked.has(part.id)) {
        Object.assign(seg, { kind: "dot", text: "" });
        links.push({ unit, cell: at, seg: put(), to: part.id });
      } else if (part.role === ROLE.subtrees) members(unit, at, cell, part.id);
      else {
        Object.assign(seg, { kind: "stub", text: "" });
        const index = put();
        ask(part.id, (child) => {
          seg.kind = "dot";
          unit.children.push({ cell: at, seg: index, unit: child });
        });
        queue.at(way.has(part.id) ? 0 : -1).skip = () => {
          const hidden = below(get, holder, part.id);
          seg.text = `+${hidden}`;
          left += hidden;
        };
      }
    }
  }

  /**
   * A list of subtrees stands inside its node: a piece for each member.
   * @param {{ cells: any[], children: any[] }} unit
   * @param {number} at
   */
  function members(unit, at, cell, first) {
    for (const { id, gap } of shorten(
      chainFrom(get, holder, first),
      (one) => way.has(one) && !way.has(restOf(get, one)?.id),
    )) {
      if (gap) cell.segs.push({ id: -1, text: `…${gap}`, kind: "text", name: "" });
      else {
        drawn.add(id);
        const from = cell.segs.length;
        pieces(unit, at, cell, id, holder.get(restOf(get, id)?.id) === id);
        for (const seg of cell.segs.slice(from)) seg.list = id;
      }
    }
  }

  function make(first) {
    const unit = { cells: [], children: [] };
    const chain = chainFrom(get, holder, first);
    const matters = (id) => wanted.has(id) || (way.has(id) && !way.has(restOf(get, id)?.id));
    let before = "";
    for (const { id, gap } of shorten(chain, matters)) {
      const cell = { id, gap, segs: [] };
      const at = unit.cells.push(cell) - 1;
      count += 1;
      if (gap) {
        cell.segs.push({ id: -1, text: `… ${gap} more`, kind: "text", name: "" });
        left += gap;
        continue;
      }
      drawn.add(id);
      const { label } = get(id);
      if (label !== before) cell.segs.push({ id, text: label, kind: "label", name: "" });
      before = label;
      pieces(unit, at, cell, id, holder.get(restOf(get, id)?.id) === id);
    }
    return unit;
  }

  while (queue.length) {
    const next = queue.shift();
    if (count < most) next.put(make(next.id));
    else next.skip?.();
  }
  return { units, links: links.filter(({ to }) => drawn.has(to)), drawn, left };
}
