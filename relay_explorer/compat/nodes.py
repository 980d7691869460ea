"""`tvm.ir.make_node`, `EnvFunc` and global functions: create TVM's objects, and find its functions, by
name.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, ClassVar

from ..ir.attrs import Attrs, DictAttrs, Dims, attr, required
from ..ir.errors import RelayError, UnknownOperatorError
from ..ir.op import Op, Relation
from ..ir.types import Type
from ..transform.partitioning.partition_graph import register_optimizers

RELATIONS = "tvm.relay.type_relation."


class TestAttrs(Attrs, key="attrs.TestAttrs"):
    """The attributes that TVM's own tests use."""

    __test__: ClassVar[bool] = False  # pytest collects classes called Test…

    axis: int = attr(10, "An axis.")
    name: str = required("A name.")
    padding: Dims = attr((0, 0), "Padding of the input.")


def make_node(type_key: str, **kwargs: Any) -> Any:
    """Create an object by the key that TVM gave its class, from its fields: attributes of operators
    (`"relay.attrs.Conv2DAttrs"`), `"DictAttrs"`, `"IntImm"`, and the nodes of programs and types
    (`"relay.Var"`, `"TensorType"`).
    """
    if type_key == "DictAttrs":
        return DictAttrs(kwargs)
    schema = Attrs.by_key(type_key)
    if schema is None:
        Op.load_all()  # loading operators registers their attributes
        schema = Attrs.by_key(type_key)
    if schema is not None:
        return schema(**kwargs)
    make = _makers().get(type_key)
    if make is None:
        raise RelayError(
            f"there is no kind of object called `{type_key[:100]}` here",
            help=["attributes of operators have keys such as `relay.attrs.Conv2DAttrs`"],
        )
    return make(**kwargs)


def _makers() -> dict[str, Callable[..., Any]]:
    from ..ir import adt, expr, types
    from . import tir

    relay = {
        "Constant": expr.Constant, "Tuple": expr.Tuple, "TupleGetItem": expr.TupleGetItem, "Call": expr.Call,
        "If": expr.If, "Function": expr.Function, "RefCreate": expr.RefCreate, "RefRead": expr.RefRead,
        "RefWrite": expr.RefWrite, "Match": adt.Match, "Clause": adt.Clause, "PatternVar": adt.PatternVar,
        "PatternTuple": adt.PatternTuple, "PatternConstructor": adt.PatternConstructor,
        "PatternWildcard": adt.PatternWildcard,
    }  # fmt: skip
    makers: dict[str, Callable[..., Any]] = {f"relay.{name}": make for name, make in relay.items()}
    makers["relay.Var"] = lambda name_hint, type_annotation=None: expr.Var(name_hint, type_annotation)
    makers["relay.Let"] = lambda var, value, body: expr.Let(var, value, body)
    makers["GlobalVar"] = expr.GlobalVar
    for kind in (
        types.TensorType, types.TupleType, types.FuncType, types.TypeCall, types.TypeVar, types.GlobalTypeVar,
        types.IncompleteType,
    ):  # fmt: skip
        makers[kind.__name__] = kind
    makers["RelayRefType"] = types.RefType
    makers["IntImm"] = lambda dtype, value: tir.IntImm(dtype, value)
    makers["FloatImm"] = lambda dtype, value: tir.FloatImm(dtype, value)
    return makers


_functions: dict[str, Callable[..., Any]] = {}


def register_func(func_name: str | Callable[..., Any], f: Any = None, override: bool = False) -> Any:
    """Register a function under a name, for `get_global_func`; without `f`, return a decorator."""
    if callable(func_name):
        return register_func(func_name.__name__, func_name, override)

    def enter(function: Callable[..., Any]) -> Callable[..., Any]:
        if func_name in _functions and not override:
            raise ValueError(f"a function called `{func_name}` is already registered: give override=True")
        _functions[func_name] = function
        return function

    return enter if f is None else enter(f)


def get_global_func(name: str, allow_missing: bool = False) -> Callable[..., Any] | None:
    """Return the function registered under `name`, or a type relation (`tvm.relay.type_relation.Broadcast`).
    TVM's own C++ functions are not available.
    """
    if name in _functions:
        return _functions[name]
    if _relation(name) is not None:
        return EnvFunc.get(name)
    if allow_missing:
        return None
    raise ValueError(f"there is no global function `{name}`: TVM's C++ code is not part of this package")


register_optimizers(lambda target: get_global_func(f"relay.ext.{target}.optimize", allow_missing=True))


def _relation(name: str) -> Relation | None:
    """Return the type relation that a function's name refers to; None where there is none."""
    from .operator_steps import named_relation

    if not name.startswith(RELATIONS):
        return None
    try:
        return named_relation(name.removeprefix(RELATIONS))
    except UnknownOperatorError:
        return None


class EnvFunc:
    """A registered function, which objects may refer to by its name. There is one object for each name, so
    that two types that refer to the same function are equal.
    """

    _by_name: ClassVar[dict[str, EnvFunc]] = {}

    def __init__(self, name: str) -> None:
        self.name = name
        self.__name__ = name.removeprefix(RELATIONS)

    @staticmethod
    def get(name: str) -> EnvFunc:
        """Return the function of that name. Raise a ValueError where none is registered."""
        if name not in EnvFunc._by_name:
            if _relation(name) is None:
                get_global_func(name)
            EnvFunc._by_name[name] = EnvFunc(name)
        return EnvFunc._by_name[name]

    @property
    def func(self) -> Callable[..., Any]:
        return self

    @property
    def relation(self) -> Relation | None:
        """The type relation that it refers to, if it does."""
        return _relation(self.name)

    def __call__(self, *args: Any) -> Any:
        """Call the function; a type relation takes the types of arguments and result, the number of
        arguments, the attributes, and a reporter.
        """
        relation = self.relation
        if self.name not in _functions and relation is not None:
            types: Sequence[Type] = args[0]
            return relation.rule(types, *args[1:])
        function = get_global_func(self.name)
        assert function is not None
        return function(*args)

    def __repr__(self) -> str:
        return f"EnvFunc({self.name})"


__all__ = ["EnvFunc", "TestAttrs", "get_global_func", "make_node", "register_func"]
