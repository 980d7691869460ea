"""The call graph: which global functions refer to which."""

from __future__ import annotations

from collections.abc import Iterator

from ..ir.expr import GlobalVar
from ..ir.module import IRModule
from ..ir.walk import post_order


class CallGraph:
    """The call graph of a module: an edge from each global function to each global function to which its body
    refers.

    Functions are looked up by GlobalVar or by name; a ModuleError is raised for one that `module` does not
    contain.
    """

    def __init__(self, module: IRModule) -> None:
        if not isinstance(module, IRModule):
            raise TypeError(f"a call graph needs a module, not a {type(module).__name__}")
        self.module = module
        self._callees: dict[str, dict[str, None]] = {}
        for var, function in module.functions.items():
            self._callees[var.name_hint] = {
                module.get_global_var(node.name_hint).name_hint: None
                for node in post_order(function)
                if isinstance(node, GlobalVar)
            }

    def callees(self, var: str | GlobalVar) -> list[GlobalVar]:
        """Return the functions to which `var` refers, in the order of the references."""
        return [self.module.get_global_var(name) for name in self._callees[self._name(var)]]

    def callers(self, var: str | GlobalVar) -> list[GlobalVar]:
        """Return the functions that refer to `var`, in the order of the module."""
        name = self._name(var)
        return [self.module.get_global_var(f) for f, named in self._callees.items() if name in named]

    def ref_count(self, var: str | GlobalVar) -> int:
        """Return the number of functions that refer to `var`, including itself."""
        return len(self.callers(var))

    def global_call_count(self, var: str | GlobalVar) -> int:
        """Return the number of functions to which `var` refers, including itself."""
        return len(self._callees[self._name(var)])

    def is_recursive(self, var: str | GlobalVar) -> bool:
        """Whether `var` refers to itself. (Mutual recursion does not count.)"""
        name = self._name(var)
        return name in self._callees[name]

    def print_var(self, var: str | GlobalVar) -> str:
        """Print the function's line of the graph, and one line for each function to which it refers."""
        name = self._name(var)
        lines = [f"Call graph node for function: '{name}' #refs = {self.ref_count(name)}"]
        lines += [f"  names '{callee}' (#refs = {self.ref_count(callee)})" for callee in self._callees[name]]
        return "\n".join(lines)

    def __iter__(self) -> Iterator[GlobalVar]:
        return iter(self.module.functions)

    def __str__(self) -> str:
        return "\n".join(self.print_var(var) for var in self)

    def _name(self, var: str | GlobalVar) -> str:
        name = var if isinstance(var, str) else var.name_hint
        return self.module.get_global_var(name).name_hint
