// Fusion: lanes, groups after every step, the tree, what a variant changes; on samples that Python's pass decided.
import assert from "node:assert/strict";
import { readFileSync, readdirSync } from "node:fs";
import { test } from "node:test";
import { Damage } from "../src/core/check.js";
import { decode } from "../src/core/decode.js";
import { checkFusion } from "../src/views/fusion/check.js";
import { amount, size } from "../src/views/fusion/columns.js";
import { share } from "../src/views/fusion/foot.js";
import { functionView, regrouped } from "../src/views/fusion/functions.js";
import {
  AGAIN,
  FIRST,
  SECOND,
  createRowGroups,
  groupLanes,
  groupName,
  wholeKernel,
} from "../src/views/fusion/groups.js";
import { layoutLanes, rowIndex, spanLanes } from "../src/views/fusion/lanes.js";
import { createModel, difference, sameStep, startOf } from "../src/views/fusion/model.js";
import { treeLines, treeWindow } from "../src/views/fusion/tree.js";

const folder = new URL("./data/", import.meta.url);
const NAMES = readdirSync(folder)
  .filter((name) => name.startsWith("fusion_"))
  .map((name) => name.slice(7, -5));
const raw = (name) => JSON.parse(readFileSync(new URL(`fusion_${name}.json`, folder), "utf8"));
const check = (view) => {
  const data = decode(view);
  checkFusion(data);
  return data;
};
const load = (name) => check(raw(name));
const model = (name, chosen = 0) => createModel(functionView(load(name), chosen));
const variantNamed = (m, name) => m.variant(m.view.variants.findIndex((v) => v.name === name));
/** What each row shows of its group. */
const rowGroups = (m, variant, groups) => {
  const { entries, update } = createRowGroups(m);
  update(variant, groups);
  return entries;
};
const titles = (m, nodes) => nodes.map((n) => m.title(n));

test("the samples are whole", () => {
  assert.ok(NAMES.length >= 4);
  for (const name of NAMES) load(name);
});

test("the merges of every variant lead to its kernels, and the totals to its totals", () => {
  for (const name of NAMES) {
    const m = model(name);
    m.view.variants.forEach((data, i) => {
      const variant = m.variant(i);
      const { members, root } = variant.groups.seek(data.steps.length - 1);
      for (const kernel of variant.kernels) {
        const group = members[root[kernel.members[0]]];
        assert.deepEqual(
          group.filter((n) => variant.kernelOf[n] >= 0).sort((a, b) => a - b),
          kernel.members,
          name,
        );
        assert.equal(groupName(m.nodes, group), kernel.name, name);
        assert.equal(wholeKernel(variant, group, m.drawn), kernel, name);
      }
      assert.equal(data.steps.at(-1).launches, data.launches.after, name);
      assert.equal(data.steps[0].launches, data.launches.before, name);
    });
  }
});

test("groups are the same whichever way a step is reached", () => {
  const m = model("joined");
  const { groups, steps } = m.variant(0);
  const forwards = steps.map((_, step) => [...groups.seek(step).root]);
  for (const step of [7, 2, 11, 0, 9, 8]) assert.deepEqual([...groups.seek(step).root], forwards[step]);
});

test("a group is named where it begins, and again where it goes on after another", () => {
  const m = model("apart");
  const variant = m.variant(0);
  const entries = rowGroups(m, variant, variant.groups.seek(variant.steps.length - 1));
  assert.deepEqual(entries.map(({ part }) => part).slice(4, 10), [FIRST, FIRST, AGAIN, 4, 4, 4]);
  assert.equal(entries[4].lower, 6);
  assert.equal(entries[6].upper, 4);
  assert.equal(entries[4].tint, entries[6].tint);
  assert.notEqual(entries[4].tint, entries[5].tint);
  const lines = (step) => [...groupLanes(m, variant.groups.seek(step), 4)];
  assert.deepEqual(lines(5), [[9, 0]], "only the kernel whose rows are apart has a line");
  assert.deepEqual(lines(1), [[5, 0]], "and so has the group that it comes from");
  assert.deepEqual(lines(0), []);
  assert.equal(variant.lanes, 1);
  const diamond = model("diamond");
  const whole = rowGroups(diamond, diamond.variant(0), diamond.variant(0).groups.seek(5));
  assert.deepEqual(
    whole.slice(3, 8).map(({ part }) => part),
    [FIRST, SECOND, 4, 4, 4],
  );
  assert.equal(diamond.variant(0).lanes, 0);
});

test("at every step of every variant, an operator has another tint than the groups beside it", () => {
  for (const name of NAMES) {
    const m = model(name);
    m.view.variants.forEach((data, i) => {
      const variant = m.variant(i);
      data.steps.forEach((_, step) => {
        const seen = rowGroups(m, variant, variant.groups.seek(step)).filter(({ root }) => root >= 0);
        seen.forEach((entry, at) => {
          const above = seen[at - 1];
          if (above && above.root !== entry.root)
            assert.notEqual(entry.tint, above.tint, `${name}, ${i}, step ${step + 1}`);
        });
      });
    });
  }
});

test("from step to step, the rows that changed are those that show another group", () => {
  for (const name of NAMES) {
    const m = model(name);
    m.view.variants.forEach((data, i) => {
      const variant = m.variant(i);
      const { entries, update } = createRowGroups(m);
      for (const step of [...data.steps.keys(), 1, 0]) {
        const before = entries.map((entry) => ({ ...entry }));
        const changed = update(variant, variant.groups.seek(step));
        const fresh = rowGroups(m, variant, variant.groups.seek(step));
        assert.deepEqual(entries, fresh, `${name}, ${i}, step ${step + 1}`);
        const differ = [...entries.keys()].filter((row) =>
          Object.keys(entries[row]).some((key) => entries[row][key] !== before[row][key]),
        );
        assert.deepEqual(changed, differ);
        assert.deepEqual(update(variant, variant.groups.seek(step)), [], "nothing changes at the same step");
      }
    });
  }
});

test("what stands near a window of rows is found without looking at the others", () => {
  const spans = [
    [0, 3],
    [10, 200],
    [64, 64],
    [500, 510],
    [127, 128],
  ];
  const near = rowIndex(spans, (span) => span);
  assert.deepEqual(near(-4, 20), [spans[0], spans[1]]);
  assert.deepEqual(near(100, 127), [spans[1], spans[2], spans[4]]);
  assert.deepEqual(near(600, 700), []);
});

test("a line of uses runs straight, and a fork has two lanes", () => {
  const { lanes, named } = model("diamond");
  const lane = (name) => lanes.lane.get(named.get(name));
  assert.deepEqual(["%0 nn.conv2d", "%3 tanh", "%4 add", "%5 mean", "sqrt"].map(lane), [0, 0, 0, 0, 0]);
  assert.deepEqual(["%1 nn.relu", "%2 exp"].map(lane), [1, 1]);
  assert.equal(lanes.out.size, 0);
});

/** Draws a layout row by row: no lane may hold two lines at once, and every use is a line or a stub. */
function holds(items, usersOf, lanes, far) {
  const found = layoutLanes(items, usersOf, { lanes, far });
  const time = new Map(items.map(({ node }, t) => [node, t]));
  const owner = new Map();
  for (const { node, lane, users } of found.trunks) {
    for (let t = time.get(node); t < time.get(users.at(-1)); t++) {
      const key = `${lane} ${t}`;
      assert.ok(!owner.has(key), `lane ${lane} at ${t}: ${owner.get(key)} and ${node}`);
      owner.set(key, node);
    }
  }
  // A node stands on a lane that no other line runs through.
  for (const { node } of items) {
    const through = owner.get(`${found.lane.get(node)} ${time.get(node)}`);
    assert.ok(through === undefined || through === node, `${node} stands on the line of ${through}`);
    assert.ok(found.lane.get(node) < lanes);
  }
  const lines = new Set(found.trunks.flatMap(({ node, users }) => users.map((user) => `${node} ${user}`)));
  for (const { node } of items) {
    for (const user of new Set(usersOf(node))) {
      const cut = (found.out.get(node) ?? []).includes(user);
      assert.notEqual(lines.has(`${node} ${user}`), cut, `${node} → ${user}`);
      assert.equal((found.into.get(user) ?? []).includes(node), cut);
    }
  }
  return found;
}

test("on random graphs every use is a line or two stubs, and no two lines are on one lane", () => {
  let seed = 7;
  const random = (n) => (seed = (seed * 48271) % 2147483647) % n;
  for (let round = 0; round < 200; round++) {
    const count = 2 + random(60);
    const users = Array.from({ length: count }, (_, n) =>
      Array.from({ length: random(4) }, () => n + 1 + random(Math.max(1, round % 2 ? 6 : count))).filter(
        (user) => user < count,
      ),
    );
    holds(
      users.map((_, node) => ({ node, row: 2 * node })),
      (n) => users[n],
      1 + random(6),
      10 + random(60),
    );
  }
});

test("what is used far away ends in stubs, and what is cut for want of lanes too", () => {
  const chain = Array.from({ length: 100 }, (_, n) => (n === 0 ? [1, 99] : n < 99 ? [n + 1] : []));
  const far = holds(
    chain.map((_, node) => ({ node, row: node })),
    (n) => chain[n],
    5,
    40,
  );
  assert.deepEqual(far.out.get(0), [99]);
  const wide = Array.from({ length: 8 }, (_, n) => (n < 7 ? [7] : []));
  const cut = holds(
    wide.map((_, node) => ({ node, row: node })),
    (n) => wide[n],
    3,
    40,
  );
  assert.ok(cut.out.size >= 3);
});

test("lanes of spans: those that overlap are on different ones, and what has no room has none", () => {
  assert.deepEqual(
    spanLanes(
      [
        [0, 5],
        [2, 3],
        [4, 9],
        [6, 7],
      ],
      2,
    ),
    [0, 1, 1, 0],
  );
  assert.deepEqual(
    spanLanes(
      [
        [0, 5],
        [1, 5],
        [2, 5],
      ],
      2,
    ),
    [0, 1, -1],
  );
});

test("the tree has the result on top, and a chain is a column", () => {
  const m = model("diamond");
  const lines = treeLines(m, m.variant(0));
  assert.equal(m.title(lines[0].node), "sqrt");
  for (const { node, parent } of lines)
    assert.equal(parent < 0 ? -1 : lines[parent].node, m.variant(0).above[node]);
  assert.deepEqual(
    titles(
      m,
      lines.filter(({ depth }) => depth === 0).map(({ node }) => node),
    ).slice(0, 3),
    ["sqrt", "%5 mean", "%4 add"],
  );
  assert.equal(lines.length, 7);
  const long = Array.from({ length: 500 }, (_, node) => ({ node, depth: 0, parent: node - 1 }));
  const { from, to } = treeWindow(long, [300, 310]);
  assert.ok(from <= 300 && to > 310 && to - from === 60);
});

test("the way to the post-dominator has all the nodes between, in the order of the rows", () => {
  const m = model("diamond");
  const [conv, add] = [m.named.get("%0 nn.conv2d"), m.named.get("%4 add")];
  assert.deepEqual(titles(m, m.way(conv, add)), [
    "%0 nn.conv2d",
    "%1 nn.relu",
    "%2 exp",
    "%3 tanh",
    "%4 add",
  ]);
  assert.deepEqual(titles(m, m.way(conv, -1)), ["%0 nn.conv2d"]);
  assert.deepEqual(m.way(-1, -1), []);
});

test("a row has one dot, which stands for all that its line defines", () => {
  const m = model("bound");
  assert.ok(
    m.allOn.some((list) => list.length > 1),
    "a let has several nodes on its row",
  );
  assert.ok(m.onRow.every((list) => list.length <= 1));
  assert.equal(m.items.length, m.allOn.filter((list) => list.length > 0).length);
  const exp = m.named.get("%y exp");
  assert.equal(
    m.onRow[m.nodes[exp].row][0],
    exp,
    "what computes stands for the variable that it is bound to",
  );
  assert.deepEqual(titles(m, m.users[exp]).sort(), ["%a nn.relu", "a call", "add"].sort());
  for (const { node } of m.items) assert.ok(m.users[node].every((user) => m.drawn(user) && user !== node));
});

test("the first frame is a refusal after a merge", () => {
  const { steps } = model("diamond").variant(0);
  assert.equal(startOf(model("diamond").variant(0)), 2);
  assert.equal(steps[2].mark, 2);
  assert.equal(startOf(variantNamed(model("diamond"), "no fusion")), 1);
});

test("another variant is entered at the same question, or at the last one before it", () => {
  const m = model("diamond");
  const asked = m.variant(0);
  const injective = variantNamed(m, "mean were injective");
  assert.equal(injective.steps[sameStep(asked, 2, injective)].node, asked.steps[2].node);
  // In phase 1 nothing is asked about an injective mean: the question comes in phase 2.
  const mean = asked.steps.findIndex(({ node }) => m.title(node < 0 ? 0 : node) === "%5 mean");
  assert.equal(m.title(injective.steps[sameStep(asked, mean, injective)].node), "%5 mean");
  assert.equal(sameStep(asked, asked.steps.length - 1, injective), injective.steps.length - 1);
  assert.equal(sameStep(asked, 0, injective), 0);
  assert.equal(sameStep(asked, 2, variantNamed(m, "no fusion")), 1);
});

test("what a variant changes are the kernels that only one of the two has", () => {
  const m = model("diamond");
  const { gone, fresh } = difference(m.variant(0), variantNamed(m, "mean were injective"));
  assert.deepEqual(
    gone.map(({ name }) => name),
    ["mean", "sqrt"],
  );
  assert.deepEqual(
    fresh.map(({ name }) => name),
    ["mean·sqrt"],
  );
});

test("numbers are said shortly", () => {
  assert.deepEqual([0, 999, 1024, 74752, 4784128].map(amount), ["0", "999", "1.02 k", "74.8 k", "4.78 M"]);
  assert.deepEqual([768, 8192].map(size), ["768 B", "8.19 kB"]);
  assert.deepEqual(
    [share(100, 27), share(100, 100), share(100, 250), share(0, 0)],
    ["−73 %", "±0 %", "+150 %", ""],
  );
});

function leaves(value, path = []) {
  if (value === null || typeof value !== "object") return [path];
  return Object.entries(value).flatMap(([key, inner]) => leaves(inner, [...path, key]));
}

test("whatever is put in the place of a value, the view is refused or has a model", () => {
  let refused = 0;
  for (const name of ["obstacle", "joined"]) {
    const text = JSON.stringify(raw(name));
    for (const path of leaves(raw(name)).filter(([first]) => ["patterns", "functions"].includes(first))) {
      for (const value of [-2, 1e9, 0.5, "x", null, {}]) {
        const view = JSON.parse(text);
        let at = view;
        for (const key of path.slice(0, -1)) at = at[key];
        at[path.at(-1)] = value;
        let data;
        try {
          data = check(view);
        } catch (error) {
          assert.ok(error instanceof Damage, `${path}: ${error}`);
          refused += 1;
          continue;
        }
        const m = createModel(functionView(data, 0));
        m.view.variants.forEach(({ steps }, i) => {
          const variant = m.variant(i);
          treeLines(m, variant);
          startOf(variant);
          rowGroups(m, variant, variant.groups.seek(steps.length - 1));
          sameStep(m.variant(0), 1, variant);
        });
      }
    }
  }
  assert.ok(refused > 4000, String(refused));
});

test("in the other order the rows of a kernel stand together, and every use after what it uses", () => {
  const whole = load("apart");
  const view = functionView(whole, 0);
  const texts = (v) =>
    v.rows.map(
      ({ tokens }) =>
        tokens
          .map(({ text }) => text)
          .join("")
          .split(" =")[0],
    );
  assert.deepEqual(texts(view).slice(4, 7), ["%0", "%1", "%2"]);
  const other = regrouped(view, 0);
  assert.deepEqual(texts(other).slice(4, 7), ["%1", "%0", "%2"]);
  const m = createModel(other);
  const last = m.variant(0).groups.seek(m.view.variants[0].steps.length - 1);
  assert.equal(groupLanes(m, last, 4).size, 0, "no kernel needs a lane of its own");
  m.nodes.forEach(({ row, uses }) => uses.forEach((user) => assert.ok(row < 0 || row <= m.nodes[user].row)));
  assert.equal(regrouped(functionView(load("diamond"), 0), 0).rows.length, load("diamond").rows.length);
});

test("a function's view names the nodes of that function only", () => {
  const whole = load("called");
  assert.deepEqual(
    whole.functions.map(({ name }) => name),
    ["@main", "@step"],
  );
  whole.functions.forEach(({ first, last }, chosen) => {
    const view = functionView(whole, chosen);
    view.rows.forEach(({ tokens }, row) => {
      const refs = tokens.map(({ ref }) => ref).filter((ref) => ref >= 0);
      assert.ok(
        row >= first && row <= last ? refs.every((ref) => ref < view.nodes.length) : refs.length === 0,
      );
    });
    assert.ok(createModel(view).items.every(({ row }) => row >= first && row <= last));
  });
});
