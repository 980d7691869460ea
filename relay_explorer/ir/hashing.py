"""Hashes that agree with structural equality (see equal.py): equal nodes have equal hashes."""

from __future__ import annotations

from typing import Any as Anything

from .adt import (
    Clause,
    Constructor,
    Match,
    Pattern,
    PatternConstructor,
    PatternTuple,
    PatternVar,
    PatternWildcard,
    TypeData,
)
from .attrs import Attrs
from .expr import Call, Constant, Expr, Function, GlobalVar, Tuple, TupleGetItem, Var
from .ndarray import NDArray
from .op import Op
from .types import FuncType, GlobalTypeVar, IncompleteType, Size, TensorType, Type, TypeRelation, TypeVar
from .walk import children, free_vars, post_order, type_children


class _Hasher:
    """The state of computing one hash. `bound` numbers the bound type variables in the order of binding; free
    ones are hashed by identity, or, with `map_free_vars`, by their kind alone.
    """

    def __init__(self, map_free_vars: bool) -> None:
        self.map_free_vars = map_free_vars
        self.bound: dict[int, int] = {}

    def bind(self, params: tuple[TypeVar, ...]) -> tuple[int, ...]:
        """Bind type parameters to the next numbers; return their kinds."""
        for param in params:
            self.bound[id(param)] = len(self.bound)
        return tuple([p.kind for p in params])

    def free(self, node: object) -> object:
        return None if self.map_free_vars else id(node)

    def type(self, type_: Type | None) -> object:
        """Return the key by which a type is hashed; a hole instead of an annotation counts as none."""
        if type_ is None or isinstance(type_, IncompleteType):
            return None
        parts: list[object] = []
        pending: list[Type] = [type_]
        while pending:
            node = pending.pop()
            parts.append(node.__class__.__name__)
            if isinstance(node, TensorType):
                parts.append((self.shape(node), node.dtype))
            elif isinstance(node, GlobalTypeVar):
                parts.append(node.name_hint)
            elif isinstance(node, TypeVar):
                parts.append((node.kind, self.bound.get(id(node), self.free(node))))
            elif isinstance(node, IncompleteType):
                parts.append(self.free(node))
            else:
                if isinstance(node, FuncType):
                    parts.append(self.bind(node.type_params))
                elif isinstance(node, TypeRelation):
                    parts.append((id(node.func), node.num_inputs))
                below = type_children(node)
                parts.append(len(below))
                pending.extend(below)
        return tuple(parts)

    def shape(self, type_: TensorType) -> object:
        return tuple(["size" if isinstance(d, Size) else d for d in type_.shape])

    def attrs(self, attrs: Attrs | None) -> object:
        if attrs is None or not attrs.keys():
            return None
        return (attrs._key, tuple([(name, self.value(v)) for name, v in sorted(attrs.items())]))

    def value(self, value: Anything) -> object:
        """Return the key by which an attribute's value is hashed; programs in attributes contribute only
        their kind.
        """
        match value:
            case None | bool() | str():
                return (type(value).__name__, value)
            case int():
                return ("int", int(value))
            case float():
                return "float"  # close numbers are equal, and no rounding maps all of these to one key
            case tuple() | list():
                return tuple([self.value(v) for v in value])
            case dict():
                names = sorted(k for k in value if isinstance(k, str))
                return (len(value), tuple([(k, self.value(value[k])) for k in names]))
            case NDArray():
                return value
        return type(value).__name__

    def pattern(self, pattern: Pattern) -> object:
        match pattern:
            case PatternWildcard():
                return "_"
            case PatternVar():
                return ("var", self.type(pattern.var.type_annotation))
            case PatternConstructor():
                return (pattern.constructor.name_hint, tuple(map(self.pattern, pattern.patterns)))
            case PatternTuple():
                return tuple(map(self.pattern, pattern.patterns))
        return None

    def expr(self, root: Expr) -> object:
        """Return the key by which an expression is hashed: its nodes in post-order, each by its kind, its own
        fields, and the indices of its operands. Constants and empty tuples are values: the number of their
        uses does not count.
        """
        order = [n for n in post_order(root) if n is root or not _is_value(n)]
        number = {id(n): k for k, n in enumerate(order)}
        unbound = set() if self.map_free_vars else {id(v) for v in free_vars(root)}
        # The order of scopes would be outermost first, but any order will do that equal programs share.
        for node in order:
            if isinstance(node, Function):
                self.bind(node.type_params)
        parts: list[object] = []
        for node in order:
            parts.append(node.__class__.__name__)
            parts.append(id(node) if id(node) in unbound else self.own(node))
            parts.append(tuple([_value(c) if _is_value(c) else number[id(c)] for c in children(node)]))
        return tuple(parts)

    def own(self, node: Expr) -> object:
        """Return the fields of a node besides its operands."""
        match node:
            case GlobalVar() | Constructor():
                return node.name_hint
            case Op():
                return node.name
            case Constant() | Tuple():
                return _value(node) if _is_value(node) else None
            case TupleGetItem():
                return node.index
            case Var():
                return self.type(node.type_annotation)
            case Call():
                types = () if isinstance(node.op, Op) else tuple(map(self.type, node.type_args))
                return (self.attrs(node.attrs), types)
            case Function():
                kinds = tuple([p.kind for p in node.type_params])
                return (kinds, self.type(node.ret_type), self.attrs(node.attrs))
            case Match():
                return (node.complete, tuple([self.pattern(c.lhs) for c in node.clauses]))
        return None


def _is_value(node: Expr) -> bool:
    """Whether a node is compared by value, so that its sharing does not count."""
    return isinstance(node, Constant) or (isinstance(node, Tuple) and not node.fields)


def _value(node: Expr) -> object:
    return node.data if isinstance(node, Constant) else ()


def type_hash(type_: Type) -> int:
    """Compute a hash of a type that agrees with `==`: the names of bound type variables do not contribute."""
    if isinstance(type_, IncompleteType):
        return id(type_)
    return hash(_Hasher(False).type(type_))


def structural_hash(node: object, map_free_vars: bool = False) -> int:
    """Compute a hash that agrees with `structural_equal`: equal nodes have equal hashes."""
    from .module import IRModule

    hasher = _Hasher(map_free_vars)
    match node:
        case IncompleteType():
            return hash(hasher.free(node))
        case TypeData():
            kinds = hasher.bind(node.type_vars)
            constructors = [(c.name_hint, tuple(map(hasher.type, c.inputs))) for c in node.constructors]
            return hash((kinds, tuple(constructors)))
        case Type():
            return hash(hasher.type(node))
        case Pattern():
            return hash(hasher.pattern(node))
        case Clause():
            return hash((hasher.pattern(node.lhs), structural_hash(node.rhs, True)))
        case Expr():
            return hash(hasher.expr(node))
        case IRModule():
            functions = [(v.name_hint, structural_hash(f, map_free_vars)) for v, f in node.functions.items()]
            types = [
                (v.name_hint, structural_hash(d, map_free_vars)) for v, d in node.type_definitions.items()
            ]
            return hash((frozenset(functions), frozenset(types)))
        case Attrs():
            return hash(hasher.attrs(node))
        case tuple() | list():
            return hash(tuple([structural_hash(part, map_free_vars) for part in node]))
    return hash(hasher.value(node)) if not isinstance(node, dict) else hash(len(node))
