"""The source view's data: which expressions of the program came from which nodes of the model."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from ...frontends.base.source import ModelSource, Node, node_of
from ...ir.expr import Call, Constant, Expr, Function, GlobalVar, Let, Var
from ...ir.module import IRModule
from ...ir.op import Op
from ...ir.show import short_type
from ...ir.walk import post_order
from ..format import Row
from ..pipeline.view import label
from ..provenance import Provenance, source_of
from ..registry import ViewError
from ..rows import ProgramRows, program_rows
from ..words import count, counted
from .format import Attribute, Fate, SourceNode, SourceTotals, SourceView
from .node_list import NodeList

MAX_VALUE_LENGTH = 240  # characters of an attribute's value
MAX_NAMED = 4  # expressions or nodes that a sentence names
MAX_NAMES = 64  # operands or results of a node that are listed


def source_view(module: IRModule, title: str = "") -> SourceView:
    """Build the view of an imported module. Passes may have rewritten it: a node is then linked with the
    expressions that replaced its own.

    Raise a ViewError for a module that was not imported.
    """
    exprs = [
        expr
        for function in module.functions.values()
        if isinstance(function, Expr)
        for expr in post_order(function)
    ]
    source = source_of(exprs)
    if source is None:
        raise ViewError(
            "the program was not imported, so there is no model to show beside it",
            help=[
                "the view `source` shows what relay.frontend.from_onnx and the other importers return, also "
                "after passes",
                "the text format does not keep the nodes: show the module itself instead of its text",
                "on the command line, give the model's file, such as model.onnx",
            ],
        )
    return _Builder(module, source, exprs).view(title)


class _Builder:
    def __init__(self, module: IRModule, source: ModelSource, exprs: Sequence[Expr]) -> None:
        self.source = source
        self.program: ProgramRows = program_rows(module)
        self.provenance = Provenance()
        self.types = self.program.types
        self.result = _result(module)
        self.list = NodeList(source.nodes)
        self.split = len(self.list.rows)
        self.nodes = self.list.nodes
        self.number = {node: number for number, node in enumerate(self.nodes)}
        self.exprs_of: list[list[Expr]] = [[] for _ in self.nodes]
        self.nodes_of_row: dict[int, dict[int, None]] = {}
        for expr in dict.fromkeys(exprs):
            self._link(expr)

    def _link(self, expr: Expr) -> None:
        if isinstance(expr, (Op, GlobalVar, Let)) or (isinstance(expr, Function) and expr.span is None):
            return
        row = self.program.row(expr)
        for node in self.provenance.nodes(expr):
            number = self.number.get(node)  # None for a node of another model
            if number is None:
                continue
            self.exprs_of[number].append(expr)
            if row >= 0 and not isinstance(expr, Constant):
                self.nodes_of_row.setdefault(row, {})[number] = None

    def view(self, title: str) -> SourceView:
        nodes = tuple([self._node(number, node) for number, node in enumerate(self.nodes)])
        linked = {row for node in nodes for row in node.rows}
        right = self._program()
        bare = sum(
            self.program.defines(row) is not None and row + self.split not in linked
            for row in range(len(right))
        )
        expressions, constants, nothing = (sum(node.fate == fate for node in nodes) for fate in Fate)
        totals = SourceTotals(expressions, constants, nothing, bare)
        return SourceView(
            title=title or self.source.name,
            summary=self._summary(totals),
            rows=(*self.list.rows, *right),
            framework=self.source.framework,
            split=self.split,
            nodes=nodes,
            modules=self.list.modules,
            totals=totals,
        )

    def _program(self) -> list[Row]:
        moved = self.split
        return [
            row._replace(end=row.end + moved if row.end >= 0 else -1, node=-1) for row in self.program.rows
        ]

    # -- one node

    def _node(self, number: int, node: Node) -> SourceNode:
        exprs = self.exprs_of[number]
        rows = dict.fromkeys(self.program.row(expr) for expr in exprs)
        computed = [expr for expr in exprs if not isinstance(expr, Constant)]
        fate = Fate.EXPRESSIONS if computed else Fate.CONSTANT if exprs else Fate.NOTHING
        return SourceNode(
            row=self.list.row_of[number],
            fate=fate,
            op=node.op,
            name=node.name,
            path=node.path,
            location=node.location,
            inputs=node.inputs[:MAX_NAMES],
            outputs=node.outputs[:MAX_NAMES],
            attributes=tuple([Attribute(name, _value(value)) for name, value in node.attrs.items()]),
            type=self._type(exprs),
            became=self._became(node, fate, computed),
            say=self._say(number, node, fate, computed, [row for row in rows if row >= 0]),
            rows=tuple(sorted(row + self.split for row in rows if row >= 0)),
        )

    def _type(self, exprs: Sequence[Expr]) -> str:
        """Return the type of a node's result: of the last expression that came from it, constants apart."""
        computed = [expr for expr in exprs if not isinstance(expr, Constant)]
        for expr in (*reversed(computed), *reversed(exprs)):
            if expr in self.types:
                return short_type(self.types[expr])
        return ""

    def _became(self, node: Node, fate: Fate, computed: Sequence[Expr]) -> str:
        if fate is Fate.NOTHING:
            return _NOTHING[node.outcome]
        if fate is Fate.CONSTANT:
            return "constant"
        return _few([_word(expr) for expr in computed])

    def _say(
        self, number: int, node: Node, fate: Fate, computed: Sequence[Expr], rows: Sequence[int]
    ) -> tuple[str, ...]:
        what = f"{node.op} {node.name}".strip() if node.name != node.op else node.op
        if fate is Fate.NOTHING:
            return "{0} has no expression in the program.\n" + _WHY.get(node.outcome, _WHY[""]), what
        if fate is Fate.CONSTANT:
            whole = any(node_of(expr.span) is node for expr in self.exprs_of[number])
            places = _plain(self._places(rows))
            where = f"\nIt is used in {places}." if places else ""
            return f"{{0}} became {'a' if whole else 'part of a'} **constant**.{where}", what
        words = [_word(expr) for expr in computed]
        marks = [f"{{{index + 1}}}" for index in range(min(len(words), MAX_NAMED))]
        if len(words) > MAX_NAMED:
            marks.append(f"and {len(words) - MAX_NAMED} more")
        amount = "" if len(words) == 1 else f"{counted(len(words), 'expression')}: "
        template = f"{{0}} became {amount}{', '.join(marks)}."
        rows = [row for row in dict.fromkeys(map(self.program.row, computed)) if row >= 0]
        others = dict.fromkeys(n for row in rows for n in self.nodes_of_row.get(row, ()) if n != number)
        if others:
            names = _few([_called(self.nodes[n]) for n in others])
            lines = "The same lines also come" if len(rows) > 1 else "The same line also comes"
            template += f"\n{lines} from {_plain(names)}."
        return (template, what, *words[:MAX_NAMED])

    def _places(self, rows: Sequence[int]) -> str:
        """Return how a sentence names the expressions of these rows: only some have a name in the program."""
        exprs = [self.program.defines(row) for row in rows]
        names = [self.program.name(expr) if expr is not None else None for expr in exprs]
        unnamed = [expr for expr, name in zip(exprs, names) if not name]
        others = [expr for expr in unnamed if expr is None or expr is not self.result]
        places = [_few([f"`{name}`" for name in names if name])]
        if len(others) < len(unnamed):
            places.append("the program's result")
        if others:
            places.append(f"{counted(len(others), 'expression')} without a name")
        return " and in ".join(filter(None, places))

    def _summary(self, totals: SourceTotals) -> str:
        leaves = Counter(node.op for node in self.nodes if node.op in ("input", "weight"))
        kinds = [counted(number, op) for op, number in leaves.items()]
        kinds.append(counted(len(self.nodes) - leaves.total(), "node"))
        parts = [f"{count(totals.expressions)} became expressions"]
        if totals.constants:
            parts.append(f"{count(totals.constants)} became constants")
        if totals.nothing:
            parts.append(f"{count(totals.nothing)} {'has' if totals.nothing == 1 else 'have'} no expression")
        return f"The {self.source.framework} model has {_joined(kinds)}. Of these, {_joined(parts)}."


_NOTHING = {"constant": "folded", "same": "identity", "": "no expression"}
_WHY = {
    "constant": "The importer computed its value, which is now part of another constant or unused.",
    "same": "It returns its operand unchanged, so it needs no expression of its own.",
    "": "Its result is unused, or a pass removed it.",
}


def _result(module: IRModule) -> Expr | None:
    """Return the expression whose value `@main` returns."""
    main = module.functions.get(module.get_global_var("main")) if "main" in module else None
    body = main.body if isinstance(main, Function) else None
    while isinstance(body, Let):
        body = body.body
    return body


def _word(expr: Expr) -> str:
    if isinstance(expr, Var):
        return f"%{expr.name_hint}"
    if isinstance(expr, Call) and isinstance(expr.op, Function) and "Primitive" in expr.op.attrs:
        return "kernel call"
    return label(expr)


def _called(node: Node) -> str:
    return f"`{node.name or node.op}`"


def _few(words: Sequence[str]) -> str:
    """Join words, the first MAX_NAMED of them."""
    unique = list(dict.fromkeys(words))
    shown = unique[:MAX_NAMED]
    if len(unique) > MAX_NAMED:
        shown.append(f"and {len(unique) - MAX_NAMED} more")
    return ", ".join(shown)


def _joined(parts: Sequence[str]) -> str:
    return " and ".join([", ".join(parts[:-1]), parts[-1]] if len(parts) > 1 else parts)


def _plain(text: str) -> str:
    """Escape the braces of a text that becomes part of a sentence's template."""
    return text.replace("{", "{{").replace("}", "}}")


def _value(value: object) -> str:
    shape, dtype = getattr(value, "shape", None), getattr(value, "dtype", None)
    if shape is not None and dtype is not None:
        return f"{dtype}{list(shape)}"
    text = repr(value) if not isinstance(value, bytes) or len(value) < 64 else f"{len(value):,} bytes"
    return text if len(text) <= MAX_VALUE_LENGTH else text[: MAX_VALUE_LENGTH - 1] + "…"
