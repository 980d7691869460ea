"""Convert a graph of TensorFlow: follow the operands of the requested results, node by node."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any as Anything

from ...ir.errors import RelayError
from ...ir.expr import Constant, Expr, Var
from ...ir.ndarray import NDArray, is_supported
from ...ir.types import TensorType
from ..base.axes import normal_axis
from ..base.context import Context, Converter, Results
from ..base.errors import DynamicShapeError, ModelFileError
from ..base.source import Node
from .dataflow import ENTER, EXIT, MERGE, Dataflow, Frame, same_value
from .graph import GraphNode, Ref, function_graph
from .loops import choice, loop, selected
from .registry import RULES
from .tensor_lists import Elements
from .tensors import Shape
from .traversal import INPUTS, VARIABLES, Scope, declared_shape, described, operands

_MOST_NODES = 200_000  # converted in one import, where functions that call functions multiply
MOST_RESULTS = 10_000  # of one node
MOST_ELEMENTS = 1 << 22  # of a constant that a converter makes
_MOST_NESTED = 30  # calls of functions within functions
_ANONYMOUS = re.compile(r"(Stateful)?PartitionedCall(_\d+)?")  # calls that have no name of their own
_SHORT = 64  # elements of an integer constant that stays in the program


class Importer:
    """The state of one import. Converters ask it for types, known values and options.

    `variables` are the values of variables by name. `shapes` are the given shapes of inputs. `layout` is
    NHWC, or NCHW where layers are to be converted to it. `options` are TVM's `convert_config`.
    """

    def __init__(
        self,
        context: Context,
        functions: Mapping[str, Anything],
        variables: Mapping[str, NDArray],
        shapes: Mapping[str, Shape] | None,
        layout: str,
        options: Mapping[str, Anything],
        elements: Elements,
    ) -> None:
        self.context = context
        self.layout = layout
        self.options = options
        self.elements = elements
        elements.attach(self)
        self.inputs: list[Var] = []
        self._functions = functions
        self._variables = variables
        self._shapes = shapes
        self._graphs: dict[str, Dataflow] = {}
        self._weights: dict[tuple[str, str], Expr] = {}
        self._scope: Scope | None = None
        self._node: GraphNode | None = None
        self.named: set[str] = set()
        self._converted = 0

    # -- what converters ask

    def value(self, expr: Expr) -> Anything:
        """Return the NumPy array that is an expression's value, also a weight's; None if it is unknown."""
        if isinstance(expr, Var):
            weight = self.context.params.get(expr.name_hint)
            return None if weight is None else weight.shared()
        return self.context.constant(expr)

    def need(self, expr: Expr, what: str) -> Anything:
        """Return the NumPy array that is an expression's value, which must be known at compile time."""
        value = self.value(expr)
        if value is None:
            raise DynamicShapeError(f"{what} must be known at compile time, but the model computes it")
        return value

    def ints(self, expr: Expr, what: str) -> list[int]:
        """Return the elements of a constant of integers."""
        return [int(element) for element in self.need(expr, what).reshape(-1)]

    def integer(self, expr: Expr, what: str) -> int:
        """Return the value of a constant with one element."""
        values = self.ints(expr, what)
        if len(values) != 1:
            raise RelayError(f"{what} must be a single number, not {len(values)}")
        return values[0]

    def axis(self, expr: Expr, rank: int, what: str = "the axis") -> int:
        """Return a constant axis of a tensor with `rank` axes, as a number that is not negative."""
        return normal_axis(self.integer(expr, what), rank)

    # -- graphs

    def function(self, name: str) -> Dataflow:
        """Return the graph of a function of the library."""
        if name not in self._graphs:
            proto = self._functions.get(name)
            if proto is None:
                raise ModelFileError(
                    f"the graph calls the function `{name}`, which its library does not have"
                )
            self._graphs[name] = Dataflow(function_graph(proto))
        return self._graphs[name]

    def call(self, name: str, args: Sequence[Expr], label: str) -> list[Expr]:
        """Return the results of calling a function, converted in place; `label` is the path of the call."""
        dataflow = self.function(name)
        caller = self.scope
        if name in caller.functions:
            raise RelayError(f"the function `{name}` calls itself, which TensorFlow cannot run either")
        if len(caller.functions) >= _MOST_NESTED:
            raise RelayError(f"calls of functions are nested more than {_MOST_NESTED} deep")
        graph = dataflow.graph
        if len(args) != len(graph.args):
            raise ModelFileError(
                f"the function `{name}` has {len(graph.args)} parameters, but `{label}` passes {len(args)}"
            )
        path = [part for part in label.split("/") if not _ANONYMOUS.fullmatch(part)]
        scope = Scope(dataflow, tuple(path))
        assert self._node is not None, "a node is being converted"
        scope.prefix = f"{self._node.name}/"
        scope.calls = (*caller.calls, self._node.name)
        scope.functions = (*caller.functions, name)
        for arg, value in zip(graph.args, args):
            scope.values[arg, 0] = value
        return self.results(scope, graph.results)

    @property
    def scope(self) -> Scope:
        """The scope in which a node is being converted."""
        assert self._scope is not None, "a node is being converted"
        return self._scope

    # -- following operands

    def results(self, scope: Scope, refs: Sequence[Ref]) -> list[Expr]:
        """Return the expressions of results, after converting the nodes that they depend on."""
        outer = self._scope, self._node
        for name in self._needed(scope, [name for name, _ in refs]):
            self._convert(scope.home(name), scope.dataflow.graph.nodes[name])
        self._scope, self._node = outer
        return [self._result(scope, ref) for ref in refs]

    def _result(self, scope: Scope, ref: Ref) -> Expr:
        value = scope.home(ref[0]).values.get(ref)
        if value is None:
            node = scope.dataflow.graph.nodes[ref[0]]
            raise ModelFileError(f"`{node.name}` ({node.op}) has no result number {ref[1]}")
        return value

    def _needed(self, scope: Scope, names: Sequence[str]) -> list[str]:
        """Return the nodes that must be converted for `names`, operands first."""
        done: set[str] = set()
        order: list[str] = []
        pending = [(name, False) for name in reversed(names)]
        while pending:
            name, finished = pending.pop()
            if finished:
                order.append(name)
                continue
            if name in done or (name, 0) in scope.home(name).values:
                continue
            done.add(name)
            pending.append((name, True))
            pending += [(source, False) for source, _ in operands(scope.dataflow, name)]
        return order

    def _convert(self, scope: Scope, node: GraphNode) -> None:
        if (node.name, 0) in scope.values:
            return
        self._converted += 1
        if self._converted > _MOST_NODES:
            raise RelayError(f"the model has more than {_MOST_NODES:,} nodes, functions' calls included")
        if node.op in MERGE:
            merges = scope.dataflow.group(node.name)
            results = self._apply(scope, node, [], partial(self._choice, scope, merges))
            refs = [(name, number) for name in merges for number in (0, 1)]
            used = [ref for ref in refs if ref[1] == 0 or scope.dataflow.graph.uses(ref)]
            scope.values.update(zip(used, results, strict=True))
        elif node.op in EXIT:
            frame, number = scope.dataflow.exits[node.name]
            if frame not in scope.loops:
                if frame in scope.running:
                    raise ModelFileError(f"the loop `{frame.name}` depends on its own result")
                scope.running.add(frame)
                scope.loops[frame] = self._apply(scope, node, [], partial(self._loop, scope, frame))
            scope.values[node.name, 0] = scope.loops[frame][number]
        elif node.op in ENTER:
            # Only values that are constant in the loop get here; variables are in the scope from the start.
            outer = scope.parent
            assert outer is not None, "a loop's scope has a parent"
            scope.values[node.name, 0] = self._result(outer, node.inputs[0])
        else:
            inputs = [self._result(scope, ref) for ref in operands(scope.dataflow, node.name)]
            rule = self._rule(scope, node)
            for index, value in enumerate(self._apply(scope, node, inputs, rule)):
                scope.values[node.name, index] = value

    def _apply(self, scope: Scope, node: GraphNode, inputs: list[Expr], rule: Converter) -> tuple[Expr, ...]:
        """Convert a node by `rule`, within the core's bookkeeping of places, types and errors."""
        self._scope, self._node = scope, node
        return self.context.convert(described(node, scope.path, scope.prefix), inputs, rule)

    def _rule(self, scope: Scope, node: GraphNode) -> Converter:
        if node.op in INPUTS:
            return partial(self._input, scope, node)
        if node.op == "Const":
            return partial(self._constant, scope, node)
        if node.op in VARIABLES:
            return self._variable
        return partial(RULES[node.op], self) if node.op in RULES else _missing

    # -- control flow

    def _choice(self, scope: Scope, merges: Sequence[str], node: Node, inputs: list[Expr]) -> Results:
        """Convert the Merge nodes of one conditional: each gives its value, and the number of its operand if
        that is used.
        """
        graph, choices = scope.dataflow.graph, scope.dataflow.choices
        test = self._result(scope, choices[merges[0]][0])
        branches: list[list[Expr]] = [[] for _ in choices[merges[0]][1]]
        for name in merges:
            refs = graph.nodes[name].inputs
            for branch, ref in enumerate(choices[name][1]):
                branches[branch].append(self._result(scope, ref))
                if graph.uses((name, 1)):
                    branches[branch].append(Constant(NDArray.scalar(refs.index(ref), "int32")))
        if self.context.dtype(test) == "bool":
            return choice(self, test, lambda: branches[1], lambda: branches[0])
        return selected(self, test, [partial(list, branch) for branch in branches])

    def _loop(self, scope: Scope, frame: Frame, node: Node, inputs: list[Expr]) -> Results:
        """Convert a loop; return the final values of its variables."""
        variables = frame.variables
        assert frame.condition is not None, "a loop with variables has a condition"
        test = frame.condition.inputs[0]
        own = {variable.enter.name for variable in variables}
        constants = [enter for enter in frame.enters if enter.name not in own]

        def body_scope(values: Sequence[Expr], outside: Sequence[Expr]) -> Scope:
            body = Scope(scope.dataflow, scope.path, scope, frame)
            for variable, value in zip(variables, values):
                for name in (variable.enter.name, variable.merge.name, *variable.switches):
                    body.values[name, 0] = body.values[name, 1] = value
            for enter, value in zip(constants, outside):
                body.values[enter.name, 0] = value
            return body

        def results(values: Sequence[Expr], outside: Sequence[Expr]) -> tuple[Expr, Callable[[], list[Expr]]]:
            body = body_scope(values, outside)
            (going_on,) = self.results(body, [test])
            return going_on, lambda: self.results(body, [variable.next.inputs[0] for variable in variables])

        return loop(
            self,
            frame.name.removesuffix("/while_context"),
            [variable.enter.inputs[0][0].rpartition("/")[2] for variable in variables],
            [self._result(scope, variable.enter.inputs[0]) for variable in variables],
            [same_value(scope.dataflow.graph, v.next.inputs[0])[0] in v.switches for v in variables],
            [self._result(scope, enter.inputs[0]) for enter in constants],
            results,
        )

    # -- leaves

    def _input(self, scope: Scope, graph_node: GraphNode, node: Node, inputs: list[Expr]) -> Results:
        """Convert an input of the model to a parameter of `@main`."""
        shapes = self._shapes or {}
        names = (graph_node.name, f"{graph_node.name}:0")
        name = next((name for name in names if name in shapes), None)
        if graph_node.name in self._variables:  # captured by a function that was exported with its values
            return self._weight(scope, graph_node.name, self._variables[graph_node.name])
        if name is None and inputs and self._shapes is not None:
            return inputs[0]  # the default
        dtype = str(node.attrs.get("dtype", "float32"))
        shape = shapes[name] if name is not None else declared_shape(node)
        if shape is None:
            raise RelayError(
                f"the rank of the input `{graph_node.name}` is unknown",
                help=[f"give its shape: from_tensorflow(…, shape={{{graph_node.name!r}: (1, 224, 224, 3)}})"],
            )
        if not is_supported(dtype):
            raise RelayError(f"the input `{graph_node.name}` has type {dtype}, which Relay does not have")
        var = self.context.variable(graph_node.name, TensorType.of(tuple(shape), dtype))
        self.inputs.append(var)
        self.named.add(var.name_hint)
        return var

    def _constant(self, scope: Scope, graph_node: GraphNode, node: Node, inputs: list[Expr]) -> Results:
        """Convert a constant: weights become parameters of `@main`, small ones stay in the program."""
        value = node.attrs.get("value")
        if not isinstance(value, NDArray):
            raise RelayError(
                f"a constant of type {node.attrs.get('dtype', 'unknown')} cannot be imported, because Relay "
                "has no such type"
            )
        count = 1
        for extent in value.shape:
            count *= extent
        whole = not value.dtype.startswith(("float", "bfloat"))
        if count <= 1 or (whole and count <= _SHORT):
            return Constant(value)
        return self._weight(scope, graph_node.name, value)

    def _weight(self, scope: Scope, name: str, value: NDArray) -> Expr:
        """Return the parameter of a weight, which calls of the same function share."""
        key = (scope.dataflow.graph.name, name)
        if key not in self._weights:
            unique = "/".join(part for part in key if part)
            while unique in self.context.params:
                unique += "_"
            self._weights[key] = self.context.weight(unique, value, freeze=False)
        return self._weights[key]

    def _variable(self, node: Node, inputs: list[Expr]) -> Results:
        """Convert a variable to its value."""
        name = str(node.attrs.get("shared_name") or node.name)
        value = self._variables.get(name)
        if value is None:
            raise RelayError(
                f"Graph is not frozen. Provide a frozen graph: the variable `{name}` has no value",
                help=[
                    "give the folder of a SavedModel, whose variables are read, or freeze the graph with "
                    "convert_variables_to_constants_v2",
                    "Keras 3 writes complete SavedModels with model.export(folder), not with "
                    "tf.saved_model.save",
                ],
            )
        if name not in self.context.params:
            self._weights["", name] = self.context.weight(name, value, freeze=False)
        return self._weights["", name]


def bounded(count: int, what: str, most: int = MOST_RESULTS) -> int:
    """Return a number that says how much the importer has to make; raise a RelayError if it is absurd."""
    if not 0 <= count <= most:
        raise RelayError(f"{what} would be {count:,}, but must be from 0 to {most:,}")
    return count


def _missing(node: Node, inputs: list[Expr]) -> Results:
    raise RelayError(f"the operator {node.op} cannot be imported")
