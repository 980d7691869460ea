"""`to_networkx` and `from_networkx`: programs as graphs of networkx, and back."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..ir.errors import RelayError
from ..ir.expr import Expr, Function
from ..ir.module import IRModule
from ..ir.tuple_wrapper import TupleWrapper
from ..transform.fuse_ops.groups import Fusion
from ..typing import Inference
from .constraints import constraints
from .dataflow import calls, dataflow, dominators, kernels
from .rebuild import rebuilt

KINDS: dict[str, Callable[[Any], Any]] = {
    "dataflow": dataflow,
    "calls": calls,
    "constraints": constraints,
    "dominators": lambda program: dominators(program, post=False),
    "post-dominators": lambda program: dominators(program, post=True),
    "fusion": kernels,
}


def to_networkx(
    x: IRModule | Expr | Inference | Fusion, kind: str | None = None, *, lets: bool = True
) -> Any:
    """Convert a program to a graph of networkx: a module, a function or other expression, an inference
    (`typing.record`), or a fusion (`transform.fuse_ops.groups.Fusion`).

    `kind` is one of the following. The default is "constraints" for an inference, "fusion" for a fusion, and
    "dataflow" for everything else.

    * "dataflow": a MultiDiGraph with a node for each expression, and an edge from each operand to each use.
      The value that a `let` binds, or that a `match` takes apart, leads to the variable, so a recursive
      function makes a cycle; otherwise, the graph is acyclic. With `lets=False`, a variable that a `let`
      binds and its value are one node, and the `let` is none. Such a graph does not say in which order
      references are read and written, so convert a program with references back with its `let`s.
    * "calls": a DiGraph with a node for each function of a module, whose key is its name, and an edge to each
      function to which it refers.
    * "constraints": a MultiDiGraph, which is bipartite: the classes of equal type variables ("t0" …), and the
      type relations ("r0" …), in the order in which inference creates them. Edges lead from a variable to the
      relations that read it, and from a relation to the variables of its result.
    * "dominators", "post-dominators": a DiGraph, the tree in which an edge leads to each node from its
      immediate dominator in the data flow. Its root is the virtual node ENTRY, from which all values come,
      or EXIT, to which all results go.
    * "fusion": a MultiDiGraph, the data flow on which `FuseOps` works, with the kernels that it forms in the
      current PassContext. Values that must be stored have an edge to the virtual node EXIT.

    Except in "calls" and "constraints", the key of a node is the index of its expression when operands come
    first: in sorted order, every node follows its operands. `graph.graph["node_of"]` maps expressions to
    keys, and the attribute `expr` leads back. An attribute that does not apply to a node is absent.

    | node's attribute | in | meaning |
    |---|---|---|
    | `expr` | all | the expression; of a type variable, `exprs`: all that have this type |
    | `kind` | all | the class of the expression ("Call", "Var" …), "Entry", "Exit", "variable", "relation" |
    | `name` | all | the printed name, "%x", "%3" or "@main"; "" where the text has no name for it |
    | `label` | all | the name with what computes the value, "%3 = add" |
    | `op` | calls of functions, relations | the operator's name, "nn.dense", or what is called |
    | `attrs` | calls of operators | the operator's attributes, as a dictionary |
    | `family` | all | the group of operators by which explorers color it, "matmul" |
    | `type` | where it is known | the type as text; `short_type` is its abbreviation |
    | `size` | where the type is known | the bytes of the value |
    | `span` | where it is known | the position in the source, "model.relay:3:7" |
    | `function` | expressions | the function that contains it, "@main" |
    | `scope` | expressions | the functions, branches and clauses inside it, the outermost first |
    | `flops`, `bytes` | calls of operators, functions | operations, and bytes read and written |
    | `pattern` | calls of operators | its pattern for fusion, the name of an `OpPattern` |
    | `defines` | functions of a module | the name that the module gives to the function, "main" |
    | `index` | projections | the field |
    | `group` | "fusion" | the key of the node that computes the result of the kernel |
    | `held` | "fusion" | whether the value must be stored in any case |
    | `post_dominator` | "fusion" | the key of the immediate post-dominator, which may be EXIT |
    | `expressions`, `parameters` | "calls" | the size of the function, and of its learned parameters |
    | `bipartite` | "constraints" | 0 for type variables, 1 for relations |
    | `solved` | "constraints" | whether the type is known, the relation solved, in the end |
    | `members` | type variables | the numbers of the variables of the class |
    | `relation` | relations | the name of the type relation |
    | `known` | relations | the number of inputs whose types are known before anything is solved |
    | `runs` | relations | how often the solver ran it |

    | edge's attribute | in | meaning |
    |---|---|---|
    | `operand` | "dataflow", "constraints" | the index of the operand; -1 for a called function |
    | `role` | "dataflow", "constraints" | "argument", "callee", "field", "condition", "input", "result" … |
    | `name` | arguments of operators | the operator's name for the operand, "weight" |
    | `pattern` | "fusion" | the pattern of this use |

    Types, costs and patterns are those that inference finds; a program that is not well typed has none.
    Raise a RelayError for a kind that does not exist or does not suit `x`, and an ImportError that names the
    command to install networkx where it is missing.
    """
    x = x.astuple() if isinstance(x, TupleWrapper) else x
    if not isinstance(x, (IRModule, Expr, Inference, Fusion)):
        raise TypeError(
            "to_networkx takes a module, a function or another expression, an inference or a fusion, not "
            f"{type(x).__name__}"
        )
    if kind is None:
        kind = {Inference: "constraints", Fusion: "fusion"}.get(type(x), "dataflow")
    if kind not in KINDS:
        raise RelayError(f"there is no kind of graph {kind!r:.60}", help=[f"there are {', '.join(KINDS)}"])
    program: Any = x
    if isinstance(x, Inference) and kind != "constraints":
        program = x.module or x.source
    elif isinstance(x, Fusion) and kind != "fusion":
        program = x.module
    return dataflow(program, lets) if kind == "dataflow" else KINDS[kind](program)


def from_networkx(graph: Any) -> IRModule | Function:
    """Convert a data-flow graph back to a program, also after it was cut, relabelled or rewired.

    The nodes' attributes `expr`, and the edges' `operand`, determine the program; keys and all other
    attributes may be anything, except these: a call of an operator follows its `op` and `attrs`, and a new
    node that has these, but no `expr`, becomes such a call. An expression whose operands are unchanged stays
    the same object. An operand that is not in the graph any more becomes a parameter.

    The result is a module if the graph contains functions of one, otherwise a function whose results are the
    nodes that no other node uses. Raise a RelayError that names the node or the edge where the graph is not
    a program, and a TypeInferenceError where the program is not well typed.
    """
    return rebuilt(graph)
