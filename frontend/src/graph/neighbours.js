// Who is beside whom in a graph that is drawn: operands and users, and along a layer.

/** The shown operands and users of each shown item. */
export function neighbours(model, layout) {
  const made = new Map();
  const of = (id) => {
    if (!made.has(id)) made.set(id, { operands: new Set(), users: new Set() });
    return made.get(id);
  };
  for (let k = 0; k < model.edges.length; k += 2) {
    const s = layout.rep[model.edges[k]],
      t = layout.rep[model.edges[k + 1]];
    if (s < 0 || t < 0 || s === t) continue;
    of(t).operands.add(s);
    of(s).users.add(t);
  }
  return (id) => ({ operands: [...(made.get(id)?.operands ?? [])], users: [...(made.get(id)?.users ?? [])] });
}

/**
 * The item that an arrow key leads to: "up" operand, "down" user, "left" and "right" along the layer; the same where there is none.
 * @param {string} way
 */
export function stepFrom(item, way, scene, near) {
  const { id } = item;
  if (way === "up" || way === "down") {
    const { operands, users } = near(id);
    const list = (way === "up" ? operands : users).map((n) => scene.byId.get(n)).filter(Boolean);
    return list.sort((a, b) => Math.abs(a.cx - item.cx) - Math.abs(b.cx - item.cx))[0]?.id ?? id;
  }
  const beside = scene
    .itemsIn(-1e9, item.y, 1e9, item.y + 1)
    .filter((it) => !it.frame && it.y === item.y && it.id !== id);
  const side = beside.filter((it) => (way === "left" ? it.cx < item.cx : it.cx > item.cx));
  return side.sort((a, b) => Math.abs(a.cx - item.cx) - Math.abs(b.cx - item.cx))[0]?.id ?? id;
}
