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
from .plain import plain
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
    x: IRModule | Expr | Inference | Fusion,
    kind: str | None = None,
    *,
    lets: bool = True,
    text: bool = False,
) -> Any:
    """Convert a program to a graph of networkx.

    `x` is a module, a function or another expression, a recorded type inference (`typing.record`), or a
    fusion (`transform.fuse_ops.groups.Fusion`).

    `kind` is one of the following. The default is "constraints" for an inference, "fusion" for a fusion, and
    "dataflow" for everything else.

    * "dataflow": a MultiDiGraph with a node for each expression, and an edge from each operand to each use.
      An edge also leads from the value that a `let` binds, or that a `match` takes apart, to each variable
      that it binds, so a recursive function makes a cycle; otherwise, the graph is acyclic. With
      `lets=False`, a variable that a `let` binds and its value are one node, and the `let` itself has no
      node. Such a graph does not say in which order references are read and written, so keep the `let`s if
      a program with references is to be converted back.
    * "calls": a DiGraph with a node for each function of a module, whose key is its name, and an edge to each
      function to which it refers.
    * "constraints": a bipartite MultiDiGraph of the classes of equal type variables ("t0" …) and the type
      relations ("r0" …), numbered in the order in which inference creates them. Edges lead from a variable
      to the relations that read it, and from a relation to the variables of its result.
    * "dominators", "post-dominators": a DiGraph, the tree in which an edge leads to each node from its
      immediate dominator in the data flow. Its root is the virtual node ENTRY, from which all values come,
      or EXIT, to which all results go.
    * "fusion": a MultiDiGraph, the data flow on which `FuseOps` works, with the kernels that it forms in the
      current PassContext. Values that must be stored have an edge to the virtual node EXIT.

    Except in "calls" and "constraints", the key of a node is the index of its expression in an order in
    which operands come first, so every node has a greater key than its operands. `graph.graph["node_of"]`
    maps expressions to keys, and the attribute `expr` leads back. An attribute that does not apply to a node
    is absent.

    With `text=True`, all attributes are numbers, truth values or text, so that a file can hold them:
    `networkx.write_graphml(to_networkx(mod, text=True), "mod.graphml")`. There are then no expressions, so
    such a graph cannot be converted back; `scope` and `members` are joined by " / ", and `attrs` is text.

    | node's attribute | in | meaning |
    |---|---|---|
    | `expr` | all | the expression; for a type variable, `exprs`: all expressions of this type |
    | `kind` | all | the class of the expression ("Call", "Var" …), "Entry", "Exit", "variable", "relation" |
    | `name` | all | the printed name, "%x", "%3" or "@main"; "" where the text has no name for it |
    | `label` | all | the name and the operation that computes the value, "%3 = add" |
    | `op` | calls of functions, relations | the operator's name, "nn.dense", or what is called |
    | `attrs` | calls of operators | the operator's attributes, as a dictionary |
    | `family` | all | the group of operators from which explorers take its color, "matmul" |
    | `type` | where it is known | the type as text; `short_type` is its abbreviation |
    | `size` | where the type is known | the bytes of the value |
    | `span` | where it is known | the position in the source, "model.relay:3:7" |
    | `function` | expressions | the function that contains it, "@main" |
    | `scope` | expressions | the functions, branches and clauses around it, the outermost first |
    | `flops`, `bytes` | calls of operators, functions | operations, and bytes read and written |
    | `pattern` | calls of operators | its pattern for fusion, the name of an `OpPattern` |
    | `defines` | functions of a module | the name that the module gives to the function, "main" |
    | `index` | projections | the field |
    | `group` | "fusion" | the key of the node that computes the result of the kernel |
    | `held` | "fusion" | whether the value must be stored in any case |
    | `post_dominator` | "fusion" | the key of the immediate post-dominator, which may be EXIT |
    | `expressions`, `parameters` | "calls" | the size of the function, and of its learned parameters |
    | `bipartite` | "constraints" | 0 for type variables, 1 for relations |
    | `solved` | "constraints" | whether inference finds the type, or solves the relation |
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

    Types, sizes and costs come from type inference, so the graph of a program that is not well typed has
    none. Raise a RelayError for a kind that does not exist or does not suit `x`. If networkx is missing,
    raise an ImportError that names the command to install it.
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
    graph = dataflow(program, lets) if kind == "dataflow" else KINDS[kind](program)
    return plain(graph) if text else graph


def from_networkx(graph: Any) -> IRModule | Function:
    """Convert a data-flow graph back to a program, even if it was cut, relabelled or rewired.

    The attributes `expr` of the nodes and `operand` of the edges determine the program. Three other
    attributes of nodes matter. `defines` names the functions of a module. If `op` or `attrs` of a call of an
    operator was changed, the call gets the new operator or attributes, and a new node that has these, but no
    `expr`, becomes such a call. Keys and all other attributes may be anything. An expression whose operands
    are unchanged stays the same object. An operand that is no longer in the graph becomes a parameter.

    The result is a module if the graph contains functions of one. Otherwise, it is a function whose results
    are the nodes that no other node uses. Raise a RelayError that names the node or the edge if the graph is
    not a program, and a TypeInferenceError if the program is not well typed.
    """
    return rebuilt(graph)
