"""The constraints of a type inference as a bipartite graph of networkx: type variables and relations."""

from __future__ import annotations

from typing import Any

from ..ir.expr import Expr
from ..ir.module import IRModule
from ..ir.show import show_type
from ..ir.substitute import parts_of
from ..ir.types import TensorType, Type
from ..typing import Inference, record
from ..typing.events import Queued, Started, Typed
from ..typing.history import History
from ..typing.variables import InferenceVariable
from ..views.families import describe
from .program import Program, operation
from .require import require


def constraints(x: IRModule | Expr | Inference) -> Any:
    """Return the bipartite graph of a type inference as a `networkx.MultiDiGraph`."""
    if not isinstance(x, Inference):
        x = record(x if isinstance(x, IRModule) else IRModule.from_expr(x))
    elif not x.events:
        x = record(x.source)
    return _Constraints(x).graph


class _Constraints:
    def __init__(self, inference: Inference) -> None:
        self.parts = Program(inference.source)
        self.history = History(inference.events)
        self.graph = require("networkx").MultiDiGraph(kind="constraints")
        self.graph.graph["error"] = "" if inference.error is None else inference.error.message
        self.exprs: dict[str, list[Expr]] = {}
        self._add_variables(inference)
        self._add_relations(inference)

    # -- type variables

    def _add_variables(self, inference: Inference) -> None:
        """Add a node for each class of type variables, with the expressions that have this type."""
        members: dict[int, set[int]] = {}
        types: dict[int, InferenceVariable] = {}
        for event in inference.events:
            read = event.relation.args if isinstance(event, Queued) else ()
            for type_ in (event.type, *read) if isinstance(event, Typed) else read:
                for variable in _variables(type_):
                    root = self.history.root(variable.number)
                    members.setdefault(root, set()).add(variable.number)
                    types.setdefault(root, variable)
            if isinstance(event, Typed) and isinstance(event.type, InferenceVariable):
                key = self._key(event.type)
                self.exprs.setdefault(key, []).append(event.expr)
        for var, value in self.history.named.items():
            entry = self.history.typed.get(value)
            if entry is not None and isinstance(entry[1], InferenceVariable):
                self.exprs.setdefault(self._key(entry[1]), []).append(var)
        for root in sorted(members):
            self._add_variable(root, members[root], types[root])

    def _add_variable(self, root: int, members: set[int], type_: InferenceVariable) -> None:
        key = f"t{root}"
        exprs = tuple(dict.fromkeys(self.exprs.get(key, ())))
        names = [self.parts.name(expr) or operation(expr) for expr in exprs]
        attributes: dict[str, Any] = {
            "kind": "variable", "bipartite": 0, "family": "creation", "scope": (),
            "name": ", ".join(dict.fromkeys(filter(None, names))), "members": tuple(sorted(members)),
        }  # fmt: skip
        solution = self.history.resolve(type_)
        attributes["solved"] = not any(True for _ in _variables(solution))
        if not isinstance(solution, InferenceVariable):
            attributes["type"] = show_type(solution)
        spans = [expr.span for expr in exprs if expr.span is not None]
        if spans:
            attributes["span"] = str(spans[0])
        attributes["label"] = attributes["name"] or key
        self.graph.add_node(key, **attributes, exprs=exprs)

    def _key(self, variable: InferenceVariable) -> str:
        return f"t{self.history.root(variable.number)}"

    # -- relations

    def _add_relations(self, inference: Inference) -> None:
        runs: dict[int, int] = {}
        for event in inference.events:
            if isinstance(event, Started):
                runs[event.relation.number] = runs.get(event.relation.number, 0) + 1
        for event in inference.events:
            if not isinstance(event, Queued):
                continue
            relation = event.relation
            key, call = f"r{relation.number}", relation.call
            known = [not any(True for _ in _variables(type_)) for type_ in relation.args]
            attributes: dict[str, Any] = {
                "kind": "relation", "bipartite": 1, "family": describe(call)[0].name, "scope": (),
                "name": self.parts.name(call), "label": self.parts.label(call), "op": operation(call),
                "relation": relation.relation.name, "solved": relation.done,
                "known": sum(known[: relation.num_inputs]), "runs": runs.get(relation.number, 0),
            }  # fmt: skip
            if call.span is not None:
                attributes["span"] = str(call.span)
            self.graph.add_node(key, **attributes, expr=call)
            for index, type_ in enumerate(relation.args):
                for variable in _variables(type_):
                    node, result = self._key(variable), index >= relation.num_inputs
                    ends = (key, node) if result else (node, key)
                    role = "result" if result else "input"
                    self.graph.add_edge(*ends, key=index, operand=index, role=role)


def _variables(type_: Type) -> list[InferenceVariable]:
    """Return the type variables that occur in a type as it was first known, each once."""
    if isinstance(type_, TensorType):
        return []
    result: dict[InferenceVariable, None] = {}
    pending = [type_]
    while pending:
        current = pending.pop()
        if isinstance(current, InferenceVariable):
            result[current] = None
        else:
            pending.extend(reversed(parts_of(current)))
    return list(result)
