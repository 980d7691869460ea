"""Parse patterns, and maintain which names are in scope."""

from __future__ import annotations

from ..ir.adt import Constructor, Pattern, PatternConstructor, PatternTuple, PatternVar, PatternWildcard
from ..ir.expr import Expr, GlobalVar, Var
from ..ir.op import Op
from .attributes import AttributeSyntax
from .lexer import near
from .metadata import MetaTable

_MAX_DEPTH = 200


class PatternSyntax(AttributeSyntax):
    """Parse patterns and binders, and maintain the scopes of local and graph names."""

    def __init__(self, text: str, source_name: str, meta: MetaTable) -> None:
        super().__init__(text, source_name, meta)
        self.graph: dict[
            str, Expr
        ] = {}  # the named nodes of the current definition, including those of closed scopes
        self.graph_open: dict[str, int] = {}  # the named nodes of open scopes: the offset of each definition
        self.strays: list[tuple[str, int]] = []  # uses of nodes whose scope has ended
        self.undo: list[tuple[str, Var | None]] = []  # the bindings that a scope shadows, restored at its end
        self.constructors: dict[str, Constructor] = {}
        self.globals: dict[str, GlobalVar] = {}
        self.global_uses: dict[str, tuple[int, int]] = {}
        self._operators: dict[str, Op] = {}

    def define(self, name: str, variable: Var) -> None:
        """Bind `name` to `variable` until the end of the scope."""
        self.undo.append((name, self.locals.get(name)))
        self.locals[name] = variable
        if "/" in name:
            self.slashed.add(name)

    def define_graph(self, name: str, node: Expr, start: int) -> None:
        """Bind `%0` to that node until the end of the scope."""
        self.undo.append((name, None))
        self.graph[name] = node
        self.graph_open[name] = start

    def unwind(self, mark: int) -> None:
        """End a scope: restore the names to the state when `undo` had `mark` entries."""
        undo, names = self.undo, self.locals
        while len(undo) > mark:
            name, before = undo.pop()
            if before is not None:
                names[name] = before
            elif name in names:
                del names[name]
            else:
                self.graph_open.pop(name, None)

    def graph_use(self, name: str, start: int) -> Expr:
        """Return the node named `%0`.

        TVM printed a node that two branches share only in the first one, so the nodes of closed scopes are
        also looked up.
        """
        node = self.graph.get(name)
        if node is None:
            raise self.error(
                f"`{name[:40]}` is not defined here",
                start,
                start + len(name),
                help=near(name, self.graph_open),
            )
        if name not in self.graph_open:
            self.strays.append((name, start))
        return node

    def global_use(self, name: str, start: int) -> GlobalVar:
        """Return the function `@name`, which may be defined further down."""
        variable = self.globals.get(name)
        if variable is None:
            variable = self.globals[name] = GlobalVar(name, span=self.span(start, self.last))
            self.global_uses[name] = (start, self.last)
        return variable

    def binder(self, where: str) -> Var:
        """Parse `%x` or `%x: T` as a new variable."""
        if self.kind != "local":
            help = [f"did you mean `%{self.text}`?"] if self.kind == "name" else []
            if self.kind == "graph":
                help = ["`%0`, `%1` … name nodes of the graph; a variable's name begins with a letter"]
            raise self.error(f"expected a variable such as `%x` {where}, found {self.found()}", help=help)
        start, name = self.start, self.text
        self.advance()
        annotation = None
        if self.kind == ":":
            self.advance()
            annotation = self.type()
        return Var(name[1:], annotation, self.span(start, self.last))

    def pattern(self, bound: dict[str, int], depth: int = 0) -> Pattern:
        """Parse one pattern; the variables that it binds are then in scope."""
        if depth > _MAX_DEPTH:
            raise self.error(f"this pattern is nested more than {_MAX_DEPTH} levels deep")
        start, kind, text = self.start, self.kind, self.text
        if kind == "local":
            if text in bound:
                raise self.error(f"the pattern binds `{text}` twice", help=["rename one of them"])
            bound[text] = start
            variable = self.binder("in a pattern")
            self.define(text, variable)
            return PatternVar(variable, self.span(start, self.last))
        if kind == "(":
            return PatternTuple(self._patterns(bound, depth), self.span(start, self.last))
        if kind == "quoted":
            text = self.quoted_name()
        elif kind == "name":
            self.advance()
        else:
            raise self.error(
                f"expected a pattern, found {self.found()}",
                help=["patterns are `_`, `%x`, `Cons(%x, _)`, `(%a, %b)`"],
            )
        if text == "_" and kind == "name":
            return PatternWildcard(self.span(start, self.last))
        constructor = self.constructors.get(text)
        if constructor is None:
            raise self.error(
                f"there is no constructor called `{text[:60]}`",
                start,
                self.last,
                help=near(text, self.constructors),
            )
        parts = self._patterns(bound, depth) if self.kind == "(" else []
        return PatternConstructor(constructor, parts, self.span(start, self.last))

    def _patterns(self, bound: dict[str, int], depth: int) -> list[Pattern]:
        opened, parts = self.start, []
        self.advance()
        while self.kind != ")":
            parts.append(self.pattern(bound, depth + 1))
            if self.kind != ",":
                break
            self.advance()
        self.expect(")", "or `,` after a pattern", opened)
        return parts
