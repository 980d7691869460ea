"""Converters of control flow: loops become tail-recursive functions, conditionals `if`."""

from __future__ import annotations

from collections.abc import Sequence

from ...ir.errors import RelayError
from ...ir.expr import Expr, Tuple
from ...ops import namespaces as relay
from ..base.context import Results
from ..base.loops import conditional, while_loop
from .operation import Operation, converter


def _run(op: Operation, attribute: str, args: Sequence[Expr]) -> list[Expr]:
    importer = op.frame.importer
    number = importer.subgraph_index(int(op.attr(attribute)), op.name)
    name = importer.model.subgraphs[number].name
    return importer.run(number, args, (*op.frame.scope, name))


def _scalar(op: Operation, condition: Expr) -> Expr:
    return relay.reshape(condition, ()) if op.context.rank(condition) else condition


@converter("IF", mode="own")
def _if(op: Operation) -> Results:
    condition, args = _scalar(op, op[0]), [op[index] for index in range(1, len(op))]
    value = op.context.constant(condition)
    if value is not None:
        return _run(op, "then_subgraph_index" if value.item() else "else_subgraph_index", args)
    return conditional(
        op.context,
        condition,
        lambda: _run(op, "then_subgraph_index", args),
        lambda: _run(op, "else_subgraph_index", args),
    )


@converter("WHILE", mode="own")
def _while(op: Operation) -> Results:
    graph = op.frame.importer.model.subgraphs[
        op.frame.importer.subgraph_index(int(op.attr("body_subgraph_index")), op.name)
    ]
    names = [graph.tensors[index].name for index in graph.inputs]
    if len(names) != len(op):
        raise RelayError(f"the loop has {len(op)} variables, but its body has {len(names)} inputs")
    return while_loop(
        op.context,
        graph.name,
        list(zip(names, op.all())),
        lambda variables: _scalar(op, _run(op, "cond_subgraph_index", variables)[0]),
        lambda variables: _run(op, "body_subgraph_index", variables),
    )


@converter("CALL", mode="own")
def _call(op: Operation) -> Results:
    return _run(op, "subgraph", op.all())


@converter("CALL_ONCE", mode="own")
def _call_once(op: Operation) -> Results:
    importer = op.frame.importer
    outer, importer.initializing = importer.initializing, True
    try:
        _run(op, "init_subgraph_index", [])
    finally:
        importer.initializing = outer
    return []


@converter("VAR_HANDLE", mode="own")
def _var_handle(op: Operation) -> Expr:
    op.frame.handles[op.operator.outputs[0]] = f"{op.attr('container', '')}/{op.attr('shared_name', '')}"
    return Tuple([])


def _variable(op: Operation) -> str:
    name = op.frame.handles.get(op.operator.inputs[0])
    if name is None:
        raise RelayError("a variable that is passed to a loop or a conditional cannot be imported")
    return name


@converter("READ_VARIABLE", mode="own")
def _read_variable(op: Operation) -> Expr:
    value = op.frame.importer.variables.get(_variable(op))
    if value is None:
        raise RelayError(f"the variable `{_variable(op)}` is read, but no CALL_ONCE gives it a value")
    return value


@converter("ASSIGN_VARIABLE", mode="own")
def _assign_variable(op: Operation) -> Results:
    if not op.frame.importer.initializing:
        raise RelayError(
            f"the model changes its variable `{_variable(op)}`, which keeps a value from one run to the "
            "next; a Relay program has no such state",
            help=["make the state an input and an output of the model, and export it again"],
        )
    op.frame.importer.variables[_variable(op)] = op[1]
    return []
