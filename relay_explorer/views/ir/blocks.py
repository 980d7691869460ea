"""Groups of rows that can be folded: functions, branches, and blocks; and each expression's group.

A block is a module of the imported model, level by level, or, where there are none, a repeated part.
"""

from __future__ import annotations

from collections.abc import Sequence

from ...analysis.repeats import repeated_blocks, stretches
from ...ir.expr import Constant, Expr, Function, If, Var
from ...ir.module import IRModule
from ..format import RowKind, TokenClass
from ..provenance import Provenance
from ..rows import ProgramRows
from .format import Edge, Group
from .modules import module_blocks

FUNCTION, BLOCK, BRANCH = 0, 1, 2
MAX_LABEL_LENGTH = 60


class Groups:
    """The groups of a program: `groups`, outer ones first; `of`, the group of every expression; `blocks`, the
    number of repeated blocks (without those inside other blocks); `modules`, that of the model's modules.
    """

    def __init__(
        self, program: ProgramRows, module: IRModule, exprs: Sequence[Expr], edges: Sequence[Edge]
    ) -> None:
        self.program = program
        groups = _functions_and_branches(program)
        groups += _blocks(program, module, Provenance.of(exprs))
        groups.sort(key=lambda g: (g.first, -g.last, g.kind == BLOCK))
        self.groups = _nested(groups)
        outer = [g for g in self.groups if g.parent < 0 or self.groups[g.parent].kind != BLOCK]
        self.blocks = sum(g.kind == BLOCK and not g.module for g in outer)
        self.modules = len({g.module for g in self.groups if g.module})
        inner = self._innermost()
        self.of = [self._own(expr, inner) for expr in exprs]
        self._place_leaves(exprs, edges)
        self._label_blocks()

    def _innermost(self) -> list[int]:
        """Return, for every row, the innermost group that contains it."""
        inner = [-1] * len(self.program.rows)
        open_groups: list[int] = []
        starts: dict[int, list[int]] = {}
        for number, group in enumerate(self.groups):
            starts.setdefault(group.first, []).append(number)
        for row in range(len(inner)):
            while open_groups and self.groups[open_groups[-1]].last < row:
                open_groups.pop()
            open_groups += starts.get(row, ())
            inner[row] = open_groups[-1] if open_groups else -1
        return inner

    def _own(self, expr: Expr, inner: Sequence[int]) -> int:
        """Return the group of an expression's row; a closure itself is not in the group of its body."""
        row = self.program.row(expr)
        group = inner[row] if row >= 0 else -1
        if isinstance(expr, Function) and group >= 0:
            while group >= 0 and self.groups[group].kind != BLOCK and self.groups[group].first == row:
                group = self.groups[group].parent
        return group

    def _blocks_around(self, group: int) -> list[int]:
        """Return the blocks from `group` outwards, up to the first group of another kind."""
        blocks = []
        while group >= 0 and self.groups[group].kind == BLOCK:
            blocks.append(group)
            group = self.groups[group].parent
        return blocks

    def _place_leaves(self, exprs: Sequence[Expr], edges: Sequence[Edge]) -> None:
        """Move parameters and constants that only one block uses into it, except those that an operator takes
        as its first operand: they are inputs, and stay outside.
        """
        users: dict[int, list[int]] = {}
        first = {edge.source for edge in edges if edge.operand == 0}
        for edge in edges:
            if isinstance(exprs[edge.source], (Var, Constant)) and edge.source not in first:
                users.setdefault(edge.source, []).append(self.of[edge.target])
        placed = {leaf: self._shared(self.of[leaf], groups) for leaf, groups in users.items()}
        for leaf, group in placed.items():
            self.of[leaf] = group

    def _shared(self, own: int, users: Sequence[int]) -> int:
        """Return the innermost block inside `own`, through blocks only, that contains all users; `own` where
        there is none.
        """
        common = self._blocks_around(users[0])
        if not common or self.groups[common[-1]].parent != own:
            return own
        for group in users[1:]:
            around = self._blocks_around(group)
            common = [g for g in common if g in around]
        return common[0] if common else own

    def _label_blocks(self) -> None:
        """Label each repeated block with its kind and its number among the blocks of this kind."""
        occurrences: dict[str, int] = {}
        for number, group in enumerate(self.groups):
            if group.kind != BLOCK or group.module:
                continue
            occurrences[group.repeat] = occurrences.get(group.repeat, 0) + 1
            self.groups[number] = group._replace(label=f"{group.repeat} · {occurrences[group.repeat]}")


def _functions_and_branches(program: ProgramRows) -> list[Group]:
    groups = []
    for index, row in enumerate(program.rows):
        if row.end < 0:
            continue
        expr = program.defines(index)
        if row.kind == RowKind.FUNCTION:
            name = next((t.text for t in row.tokens if t.kind == TokenClass.GLOBAL), "fn")
            groups.append(Group(name, -1, index, row.end, FUNCTION))
        elif isinstance(expr, Function):
            groups.append(Group(program.name(expr) or "fn", -1, index, row.end, FUNCTION))
        elif isinstance(expr, If) and row.end > index + 1:
            groups.append(Group("then", -1, index + 1, row.end - 1, BRANCH))
        elif row.kind == RowKind.BRANCH and row.text.startswith("} else") and row.end > index + 1:
            groups.append(Group("else", -1, index + 1, row.end - 1, BRANCH))
        elif row.kind == RowKind.BRANCH:
            groups.append(Group(_pattern(program, index), -1, index, row.end, BRANCH))
    return groups


def _pattern(program: ProgramRows, index: int) -> str:
    """Return the pattern of a clause, whose variables may stand in rows of their own."""
    pieces = [program.rows[index].text]
    while not pieces[-1].endswith(" => {"):
        index += 1
        pieces.append(program.rows[index].text)
    text = (pieces[0] + " ".join(pieces[1:])).removesuffix(" => {")
    return text if len(text) <= MAX_LABEL_LENGTH else text[: MAX_LABEL_LENGTH - 1] + "…"


def _blocks(program: ProgramRows, module: IRModule, provenance: Provenance | None) -> list[Group]:
    blocks = []
    heads = [i for i, row in enumerate(program.rows) if row.kind == RowKind.FUNCTION and row.end >= 0]
    functions = dict(zip(heads, module.functions.values(), strict=True))
    order: dict[int, list[list[Expr]]] = {}
    for head, exprs in stretches(program.source):
        order.setdefault(head, []).append(exprs)

    def add(head: int, members: Sequence[Expr], label: str, key: str, path: str) -> None:
        rows = [program.row(member) for member in members]
        end = max(max(r, program.rows[r].end) for r in rows)
        repeat = f"{head} {key}" if len(functions) > 1 else key
        blocks.append(Group(label, -1, min(rows), end, BLOCK, repeat, path))

    for head, lists in order.items():
        named = module_blocks(functions[head], lists, provenance)
        for part in named:
            add(head, part.members, part.label, part.key, part.module)
        for block in [] if named else repeated_blocks(functions[head], lists):
            add(head, block.members, "", block.key, "")
    return blocks


def _nested(groups: Sequence[Group]) -> list[Group]:
    """Sort the groups by their rows, and set their parents; a group that would cross another is dropped."""
    nested: list[Group] = []
    outer: list[int] = []
    for group in groups:
        while outer and nested[outer[-1]].last < group.first:
            outer.pop()
        if outer and nested[outer[-1]].last < group.last:
            continue
        nested.append(group._replace(parent=outer[-1] if outer else -1))
        outer.append(len(nested) - 1)
    return nested
