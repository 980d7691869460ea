"""The table of converters: which function converts which operator of TensorFlow."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from ...ir.expr import Expr
from ..base.context import Results
from ..base.source import Node

if TYPE_CHECKING:
    from .importer import Importer

Rule = Callable[["Importer", Node, list[Expr]], Results]
"""Converts a node, given the import's state, the node and the expressions of its operands."""

RULES: dict[str, Rule] = {}


def converts(*ops: str) -> Callable[[Rule], Rule]:
    """Declare the decorated function as the converter of `ops`."""

    def declared(rule: Rule) -> Rule:
        for op in ops:
            assert op not in RULES, f"{op} has two converters"
            RULES[op] = rule
        return rule

    return declared
