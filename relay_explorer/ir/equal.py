"""Structural equality of types, expressions and modules.

Two programs are equal if they differ in the names of bound variables only. Sharing counts: a value used twice
is not equal to the same value computed twice.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from .adt import (
    Clause,
    Constructor,
    Match,
    Pattern,
    PatternConstructor,
    PatternTuple,
    PatternVar,
    TypeData,
)
from .attrs import Attrs, same_value
from .expr import (
    Call,
    Constant,
    Expr,
    Function,
    GlobalVar,
    If,
    Let,
    RefCreate,
    RefRead,
    RefWrite,
    Tuple,
    TupleGetItem,
    Var,
)
from .hashing import structural_hash as structural_hash
from .hashing import type_hash as type_hash
from .identity import Id
from .op import Op
from .size import variables
from .size_parts import substituted
from .types import (
    KIND_NAMES,
    FuncType,
    GlobalTypeVar,
    IncompleteType,
    RefType,
    Size,
    SizeVar,
    TensorType,
    TupleType,
    Type,
    TypeCall,
    TypeRelation,
    TypeVar,
)
from .walk import type_children

if TYPE_CHECKING:
    from .module import IRModule

Node = object

# Numbers in attributes within this distance are equal, as in TVM: an `epsilon` of 1e-5 equals the one that
# was read from a float32 constant.
FLOAT_TOLERANCE = 1e-9


class _Comparison:
    """The state of comparing two graphs: the correspondence between their nodes, and the pairs still to
    compare.
    """

    def __init__(self, map_free_vars: bool) -> None:
        self.map_free_vars = map_free_vars
        self.forward: dict[int, Node] = {}
        self.backward: dict[int, Node] = {}
        self.pending: list[tuple[Node, Node]] = []
        self.keep: list[Node] = []  # keeps the objects alive whose ids are used above

    def pair(self, a: Node, b: Node) -> None:
        self.forward[id(a)] = b
        self.backward[id(b)] = a
        self.keep += (a, b)

    def both(self, left: tuple[Node, ...], right: tuple[Node, ...], what: str) -> str | None:
        if len(left) != len(right):
            return f"{len(left)} {what} against {len(right)}"
        self.pending.extend(zip(reversed(left), reversed(right)))
        return None

    def run(self, a: Node, b: Node) -> str | None:
        """Return a description of the first difference, or None."""
        self.pending.append((a, b))
        while self.pending:
            left, right = self.pending.pop()
            mismatch = self.node(left, right)
            if mismatch is not None:
                return mismatch
        return None

    def node(self, a: Node, b: Node) -> str | None:
        mapped, reverse = self.forward.get(id(a)), self.backward.get(id(b))
        if mapped is not None or reverse is not None:
            if mapped is b and reverse is a:
                return None
            return f"{_brief(a)} and {_brief(b)} are shared differently"
        if a is None or b is None:
            return None if a is b else f"{_brief(a)} against {_brief(b)}"
        if isinstance(a, Tuple) and isinstance(b, Tuple) and not (a.fields or b.fields):
            return None  # compared by value, like constants: the text format writes `()` at each use
        if a.__class__ is not b.__class__:
            return f"{_kind(a)} `{_brief(a)}` against {_kind(b)} `{_brief(b)}`"
        if isinstance(a, Type):
            return self.type(a, b)  # type: ignore[arg-type]  # same class
        if isinstance(a, Pattern):
            return self.pattern(a, b)  # type: ignore[arg-type]  # same class
        return self.expr(a, b)  # type: ignore[arg-type]  # same class

    def variable(self, a: Var | TypeVar, b: Var | TypeVar) -> str | None:
        """Compare variables that no binder has introduced yet."""
        if a is b:
            self.pair(a, b)
            return None
        if not self.map_free_vars:
            return f"free variable `{a.name_hint}` against `{b.name_hint}`"
        self.pair(a, b)
        if isinstance(a, Var) and isinstance(b, Var):
            self.pending.append((_annotation(a), _annotation(b)))
        return None

    def bind(self, a: tuple[Var, ...], b: tuple[Var, ...]) -> str | None:
        if len(a) != len(b):
            return f"{len(a)} parameters against {len(b)}"
        for left, right in zip(a, b):
            self.pair(left, right)
            self.bind_sizes(_annotation(left), _annotation(right))
        return self.both(tuple(map(_annotation, a)), tuple(map(_annotation, b)), "annotations")

    def bind_sizes(self, a: Type | None, b: Type | None) -> None:
        """Pair the size variables that annotations introduce, as `n` in `%x: Tensor[(n, 4), float32]`."""
        names, others = _size_variables(a), _size_variables(b)
        if len(names) == len(others):
            for name, other in zip(names, others):
                if name is not other and id(name) not in self.forward and id(other) not in self.backward:
                    self.pair(name, other)

    def type_params(self, a: tuple[TypeVar, ...], b: tuple[TypeVar, ...]) -> str | None:
        if len(a) != len(b):
            return f"{len(a)} type parameters against {len(b)}"
        for left, right in zip(a, b):
            if left.kind != right.kind:
                kinds = (KIND_NAMES.get(v.kind, str(v.kind)) for v in (left, right))
                return f"type parameter `{left.name_hint}`: kind {' against '.join(kinds)}"
            self.pair(left, right)
        return None

    def attrs(self, a: Attrs | None, b: Attrs | None) -> bool:
        """Whether attributes are equal; programs in them are compared structurally."""
        if a is None or b is None:
            return (a is None or not a.keys()) and (b is None or not b.keys())
        if a._key != b._key or set(a.keys()) != set(b.keys()):
            return False
        return all(self.value(value, b[name]) for name, value in a.items())

    def value(self, a: Node, b: Node) -> bool:
        """Whether two attribute values are equal."""
        if isinstance(a, (Expr, Type, Pattern)) and isinstance(b, (Expr, Type, Pattern)):
            self.pending.insert(0, (a, b))  # after all else, when every variable has its counterpart
            return True
        if isinstance(a, Id) and isinstance(b, Id):
            return self.forward.get(id(a.var), a.var) is b.var
        if isinstance(a, (list, tuple)) and type(a) is type(b):
            return len(a) == len(b) and all(map(self.value, a, b))
        if isinstance(a, dict) and isinstance(b, dict):
            return len(a) == len(b) and all(self.entry(k, v, b, n) for n, (k, v) in enumerate(a.items()))
        if isinstance(a, float) and isinstance(b, float) and abs(a - b) < FLOAT_TOLERANCE:
            return True
        return same_value(a, b)

    def entry(self, key: Node, value: Node, other: dict[Node, Node], position: int) -> bool:
        """Whether `other` has an equal entry; a variable as key corresponds to its counterpart there."""
        if isinstance(key, Id):
            partner = self.forward.get(id(key.var), key.var)
            counterpart: Node = partner.vid if isinstance(partner, Var) else key
        elif isinstance(key, Var):
            counterpart = self.forward.get(id(key), key)
            if counterpart is key and key not in other and self.map_free_vars:
                counterpart = list(other)[position]
                if not isinstance(counterpart, Var) or self.node(key, counterpart) is not None:
                    return False
        else:
            counterpart = key
        return counterpart in other and self.value(value, other[counterpart])

    def expr(self, a: Expr, b: Expr) -> str | None:
        if isinstance(a, Var) and isinstance(b, Var):
            return self.variable(a, b)
        if isinstance(a, (GlobalVar, Constructor)) and isinstance(b, (GlobalVar, Constructor)):
            same = a.name_hint == b.name_hint
            return None if same else f"`{a.name_hint}` against `{b.name_hint}`"
        if isinstance(a, Op):
            return None if a is b else f"operator `{_brief(a)}` against `{_brief(b)}`"
        if isinstance(a, Constant) and isinstance(
            b, Constant
        ):  # compared by value: the text format writes each at its use
            return None if a.data == b.data else f"constant {_brief(a)} against {_brief(b)}"
        self.pair(a, b)
        match a, b:
            case Call(), Call():
                if not self.attrs(a.attrs, b.attrs):
                    return f"attributes of `{_brief(a.op)}`: {a.attrs!r} against {b.attrs!r}"
                types = (
                    None if isinstance(a.op, Op) else self.both(a.type_args, b.type_args, "type arguments")
                )
                return types or self.both(
                    (a.op, *a.args), (b.op, *b.args), f"parts of a call of `{_brief(a.op)}`"
                )
            case TupleGetItem(), TupleGetItem():
                self.pending.append((a.tuple_value, b.tuple_value))
                return None if a.index == b.index else f"field {a.index} against field {b.index}"
            case Tuple(), Tuple():
                return self.both(a.fields, b.fields, "fields")
            case Let(), Let():
                self.pending += ((a.body, b.body), (a.value, b.value))
                return self.bind((a.var,), (b.var,))
            case If(), If():
                return self.both(
                    (a.cond, a.true_branch, a.false_branch), (b.cond, b.true_branch, b.false_branch), "parts"
                )
            case Function(), Function():
                return self.function(a, b)
            case RefCreate(), RefCreate():
                self.pending.append((a.value, b.value))
            case RefRead(), RefRead():
                self.pending.append((a.ref, b.ref))
            case RefWrite(), RefWrite():
                self.pending += ((a.value, b.value), (a.ref, b.ref))
            case Match(), Match():
                return self.match(a, b)
        return None

    def function(self, a: Function, b: Function) -> str | None:
        if (mismatch := self.type_params(a.type_params, b.type_params)) is not None:
            return mismatch
        self.pending += ((a.body, b.body), (a.ret_type, b.ret_type))
        if (mismatch := self.bind(a.params, b.params)) is not None:
            return mismatch
        if not self.attrs(a.attrs, b.attrs):
            return f"function attributes: {a.attrs!r} against {b.attrs!r}"
        return None

    def match(self, a: Match, b: Match) -> str | None:
        if a.complete != b.complete:
            return "one match is declared complete, the other is not"
        if len(a.clauses) != len(b.clauses):
            return f"{len(a.clauses)} clauses against {len(b.clauses)}"
        for left, right in zip(reversed(a.clauses), reversed(b.clauses)):
            self.pending += ((left.rhs, right.rhs), (left.lhs, right.lhs))
        self.pending.append((a.data, b.data))
        return None

    def pattern(self, a: Pattern, b: Pattern) -> str | None:
        if isinstance(a, PatternVar) and isinstance(b, PatternVar):
            return self.bind((a.var,), (b.var,))
        if isinstance(a, PatternConstructor) and isinstance(b, PatternConstructor):
            self.pending.append((a.constructor, b.constructor))
            return self.both(a.patterns, b.patterns, "patterns")
        if isinstance(a, PatternTuple) and isinstance(b, PatternTuple):
            return self.both(a.patterns, b.patterns, "patterns")
        return None

    def type(self, a: Type, b: Type) -> str | None:
        match a, b:
            case TensorType(), TensorType():
                if a.dtype != b.dtype or len(a.shape) != len(b.shape):
                    return f"type {a} against {b}"
                for left, right in zip(a.shape, b.shape):
                    if not self.size(left, right):
                        return f"type {a} against {b}"
                return None
            case TypeVar(), TypeVar():
                return self.variable(a, b)
            case GlobalTypeVar(), GlobalTypeVar():
                return None if a.name_hint == b.name_hint else f"type {a} against {b}"
            case IncompleteType(), IncompleteType():
                return None if a is b or self.map_free_vars else f"unknown type {a} against {b}"
            case TupleType(), TupleType():
                return self.both(a.fields, b.fields, "fields of a tuple type")
            case RefType(), RefType():
                self.pending.append((a.value, b.value))
            case TypeCall(), TypeCall():
                return self.both((a.func, *a.args), (b.func, *b.args), "type arguments")
            case FuncType(), FuncType():
                return (
                    self.type_params(a.type_params, b.type_params)
                    or self.both(a.type_constraints, b.type_constraints, "constraints")
                    or self.both(
                        (*a.arg_types, a.ret_type), (*b.arg_types, b.ret_type), "parts of a function type"
                    )
                )
            case TypeRelation(), TypeRelation():
                same = a.func is b.func and a.num_inputs == b.num_inputs
                if not same or not self.attrs(a.attrs, b.attrs):  # type: ignore[arg-type]  # attributes, or None
                    return "type relations differ"
                return self.both(a.args, b.args, "arguments of a relation")
            case TypeData(), TypeData():
                if (differ := self.type_params(a.type_vars, b.type_vars)) is not None:
                    return differ
                for x, y in zip(a.constructors, b.constructors):
                    if x.name_hint != y.name_hint:
                        return f"constructor `{x.name_hint}` against `{y.name_hint}`"
                    if (
                        mismatch := self.both(x.inputs, y.inputs, f"arguments of `{x.name_hint}`")
                    ) is not None:
                        return mismatch
                return (
                    None
                    if len(a.constructors) == len(b.constructors)
                    else "the number of constructors differs"
                )
        return None

    def size(self, a: object, b: object) -> bool:
        """Whether two dimensions are equal. A parameter binds the names in its type; others are free."""
        if not (isinstance(a, Size) and isinstance(b, Size)):
            return a == b
        if isinstance(a, SizeVar) and isinstance(b, SizeVar):
            if id(a) in self.forward or id(b) in self.backward:
                return self.forward.get(id(a)) is b
            if self.map_free_vars:
                self.pair(a, b)
            return self.map_free_vars or a == b
        names, others = variables(a), variables(b)
        if len(names) != len(others) or not all(map(self.size, names, others)):
            return False
        return substituted(a, dict(zip(names, others))) == b


def _size_variables(type_: Type | None) -> list[SizeVar]:
    """Return the distinct size variables of a type, in the order in which they are written."""
    names: dict[SizeVar, None] = {}
    pending = [] if type_ is None else [type_]
    while pending:
        part = pending.pop()
        if isinstance(part, TensorType):
            for extent in part.shape:
                names.update(dict.fromkeys(variables(extent) if isinstance(extent, Size) else ()))
        else:
            pending.extend(reversed(type_children(part)))
    return list(names)


def _annotation(variable: Var) -> Type | None:
    """Return a variable's annotation; a hole counts as none."""
    annotation = variable.type_annotation
    return None if isinstance(annotation, IncompleteType) else annotation


def _kind(node: Node) -> str:
    return type(node).__name__


def _brief(node: Node) -> str:
    if isinstance(node, Call):
        return f"{_brief(node.op)}(…)"
    if isinstance(node, Op):
        return node.name
    if isinstance(node, (Var, GlobalVar, Constructor)):
        return node.name_hint
    if isinstance(node, Type):
        return str(node)[:80]
    if isinstance(node, Constant):
        return repr(node.data)
    return "nothing" if node is None else f"a {_kind(node)}"


def difference(a: Node, b: Node, map_free_vars: bool = False) -> str | None:
    """Describe the first difference between `a` and `b`; return None where they are structurally equal. Lists
    and tuples of programs and types are equal where their elements are.
    """
    return _difference(_Comparison(map_free_vars), a, b)


def _difference(comparison: _Comparison, a: Node, b: Node) -> str | None:
    from .module import IRModule

    if isinstance(a, (list, tuple)) and isinstance(b, (list, tuple)):
        if len(a) != len(b):
            return f"{len(a)} elements against {len(b)}"
        return next(filter(None, (_difference(comparison, x, y) for x, y in zip(a, b))), None)
    if isinstance(a, IRModule) and isinstance(b, IRModule):
        return _modules(comparison, a, b)
    if isinstance(a, Clause) and isinstance(b, Clause):
        return comparison.run(a.lhs, b.lhs) or comparison.run(a.rhs, b.rhs)
    if isinstance(a, (Type, Expr, Pattern)) and isinstance(b, (Type, Expr, Pattern)):
        return comparison.run(a, b)
    return None if a == b else f"{a!r} against {b!r}"


def _modules(comparison: _Comparison, a: IRModule, b: IRModule) -> str | None:
    left = {v.name_hint: f for v, f in a.functions.items()}
    right = {v.name_hint: f for v, f in b.functions.items()}
    left_types = {v.name_hint: d for v, d in a.type_definitions.items()}
    right_types = {v.name_hint: d for v, d in b.type_definitions.items()}
    for what, x, y in (("function @", left, right), ("type ", left_types, right_types)):
        if x.keys() != y.keys():
            odd = sorted(x.keys() ^ y.keys())
            return f"only one module has {what}{odd[0]}"
    for name, data in left_types.items():
        if (mismatch := comparison.run(data, right_types[name])) is not None:
            return f"in type {name}: {mismatch}"
    for name, function in left.items():
        if (mismatch := comparison.run(function, right[name])) is not None:
            return f"in @{name}: {mismatch}"
    return None


def structural_equal(lhs: Node, rhs: Node, map_free_vars: bool = False) -> bool:
    """Whether two types, expressions or modules are the same up to the names of bound variables (with
    `map_free_vars`, of free ones too). Sharing counts.
    """
    return difference(lhs, rhs, map_free_vars) is None


def assert_structural_equal(lhs: Node, rhs: Node, map_free_vars: bool = False) -> None:
    """Raise a ValueError that describes the first difference, where there is one."""
    mismatch = difference(lhs, rhs, map_free_vars)
    if mismatch is not None:
        raise ValueError(f"not structurally equal: {mismatch}\nleft:\n{lhs}\nright:\n{rhs}")


def types_equal(a: Type, b: Type) -> bool:
    return _Comparison(False).run(a, b) is None
