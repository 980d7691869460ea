"""Print expressions that fit one row, as tokens."""

from __future__ import annotations

from collections.abc import Sequence

from ..ir.adt import Constructor
from ..ir.expr import Call, Constant, Expr, GlobalVar, RefCreate, RefRead, RefWrite, Tuple, TupleGetItem, Var
from ..ir.op import Op
from ..ir.scopes import Layout
from .names import global_name, plain_name
from .rows import COMMENT, CONSTRUCTOR, GLOBAL, KEYWORD, LITERAL, LOCAL, OPERATOR, TYPE_NAME, Token, plain
from .spelling import Spelling


class Inline:
    """Print expressions whose operands are names, literals or numbers."""

    def __init__(self, spelling: Spelling) -> None:
        self.spelling = spelling
        self.typed_constants = False  # whether typed constants get their types as comments

    def number(self, node: Expr, layout: Layout) -> Token:
        """Return the token `%0` that refers to a numbered node."""
        return Token(LOCAL, f"%{layout.numbers[id(node)]}", node)

    def atom(self, node: Expr, layout: Layout, call: Call | None = None) -> Token:
        """Return the token for a use of `node`; if `node` is the callee of `call`, the token refers to the
        call.
        """
        if isinstance(node, Var):
            return Token(LOCAL, self.spelling.name(node), node)
        if isinstance(node, Constant):
            return Token(LITERAL, self.spelling.constant(node), node)
        if isinstance(node, GlobalVar):
            return Token(GLOBAL, global_name(node.name_hint), node)
        if isinstance(node, Op):
            return Token(OPERATOR, self.spelling.operator(node.name), call or node)
        if isinstance(node, Constructor):
            alone = "[]" if call is None and not node.inputs else ""  # the name alone would denote a call
            return Token(CONSTRUCTOR, plain_name(node.name_hint) + alone, call or node)
        return self.number(node, layout)

    def in_full(self, node: Expr, layout: Layout) -> list[Token]:
        """Print the expression itself, with its operands as atoms."""
        match node:
            case Call():
                return self._call(node, layout)
            case Tuple():
                end = plain(",)" if len(node.fields) == 1 else ")")
                return [plain("("), *self._atoms(node.fields, layout, node), end]
            case TupleGetItem():
                whole = self.atom(node.tuple_value, layout)
                if whole.text[-1].isdigit() and whole.cls == LITERAL:  # `1.0` is one number
                    return [plain("("), whole, plain(f").{node.index}")]
                return [whole, plain(f".{node.index}")]
            case RefCreate():
                return self._reference("ref", node, [node.value], layout)
            case RefRead():
                return self._reference("ref_read", node, [node.ref], layout)
            case RefWrite():
                return self._reference("ref_write", node, [node.ref, node.value], layout)
        return [self.atom(node, layout)]

    def _reference(self, word: str, node: Expr, parts: list[Expr], layout: Layout) -> list[Token]:
        return [Token(KEYWORD, word, node), plain("("), *self._atoms(parts, layout, node), plain(")")]

    def _atoms(self, nodes: Sequence[Expr], layout: Layout, whole: Expr) -> list[Token]:
        """Print the operands of `whole`, separated by commas."""
        typed = self.typed_constants and whole._checked_type is not None
        tokens: list[Token] = []
        for node in nodes:
            if tokens:
                tokens.append(plain(", "))
            tokens.append(self.atom(node, layout))
            if typed and isinstance(node, Constant):
                tokens.append(Token(COMMENT, f" /* ty={self.spelling.type(node.checked_type)} */"))
        return tokens

    def _call(self, call: Call, layout: Layout) -> list[Token]:
        tokens = [self.atom(call.op, layout, call)]
        # Type inference can restore these type arguments.
        types = () if call._checked_type is not None or isinstance(call.op, Op) else call.type_args
        nullary = isinstance(call.op, Constructor) and not call.op.inputs
        if nullary and not (call.args or call.attrs or types):
            return tokens
        if types:
            text = ", ".join(map(self.spelling.type, types))
            tokens += [plain("["), Token(TYPE_NAME, text), plain("]")]
        args = self._atoms(call.args, layout, call)
        attrs = self.spelling.call_attrs(call)
        between = [plain(", ")] if args and attrs else []
        return [*tokens, plain("("), *args, *between, *attrs, plain(")")]
