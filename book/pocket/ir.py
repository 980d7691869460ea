# %%
import sys
from dataclasses import dataclass, field

sys.setrecursionlimit(20_000)  # programs nest deeper than 1,000 calls


class Node:
    """Base of all nodes; most of them are equal only to themselves."""

    def __init_subclass__(cls, eq=False):
        dataclass(cls, frozen=True, eq=eq)


# %%
class Var(Node):
    """A local variable. Two variables of the same name are different."""

    name: str
    type: object = None


class Constant(Node):
    """A tensor that is known when the program is written."""

    value: object


class Op(Node, eq=True):
    """An operator. Operators of the same name are equal."""

    name: str


class GlobalVar(Node):
    """The name of a function of the module."""

    name: str


# %%
class Call(Node):
    """An operator, a function or a constructor applied to arguments."""

    callee: Node
    args: tuple
    attrs: dict = field(default_factory=dict)


class Tuple(Node):
    """Several values as one."""

    fields: tuple


class TupleGetItem(Node):
    """One field of a tuple, counted from 0."""

    tuple: Node
    index: int


# %%
class Function(Node):
    """A function value; `primitive` marks the body of one kernel."""

    params: tuple
    body: Node
    return_type: object = None
    type_params: tuple = ()
    primitive: bool = False


class Let(Node):
    """Evaluate `value` once, name it `var`, continue with `body`."""

    var: Var
    value: Node
    body: Node


class If(Node):
    """Evaluate one of two branches, chosen by a scalar bool."""

    condition: Node
    then_branch: Node
    else_branch: Node


# %%
class Constructor(Node):
    """A function from values of the field types to a data type."""

    name: str
    field_types: tuple
    datatype: object
    type_params: tuple = ()


class Clause(Node):
    """One case of a match; the pattern is a variable, which matches any
    value, or a call of a constructor with patterns as arguments."""

    pattern: Node
    body: Node


class Match(Node):
    """Evaluate the first clause whose pattern matches `data`."""

    data: Node
    clauses: tuple


# %%
class Module(Node):
    """Functions, and the constructors of data types, each by name."""

    functions: dict
    datatypes: dict = field(default_factory=dict)


# %%
def call(name, *args, **attrs):
    """Build a call of an operator: `call("add", x, y)`."""
    return Call(Op(name), args, attrs)


# %%
TYPES = {"type", "return_type", "type_params", "field_types", "datatype"}
UNEVALUATED = {"params", "var", "pattern"} | TYPES


def children(node, binders=False):
    """Return the nodes that are evaluated, or else those that are not."""
    parts = []
    for name, value in vars(node).items():
        if (name in UNEVALUATED) == binders:
            parts += value if isinstance(value, tuple) else [value]
    return [part for part in parts if isinstance(part, Node)]
