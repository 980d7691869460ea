"""Test a pass on random programs.

    from relay_explorer.testing import generate, shrink

    program = generate(7, size=60)          # a random well-typed program, from a seed
    program.module                          # its IRModule
    program.types[program.module["main"].body]   # the type that each expression was generated for

    small = shrink(program.module, lambda module: breaks(my_pass, module))   # a counterexample to read

`generate` uses every construct of the language. It does not ask type inference: it chooses a type and
generates an expression of that type, so its types are an independent check of the inferred ones. Every
generated program terminates. `Generator` can be subclassed to change the mixture, and `tensor_call` draws
one call of an operator. `shrink` searches for a smaller program for which a predicate still holds.
`structural_equal` compares programs up to the names of variables, and `assert_structural_equal` says where
two programs differ.
"""

from __future__ import annotations

from ..ir.equal import assert_structural_equal, structural_equal
from .generator import Generated, Generator, generate
from .shrinking import shrink, size
from .tensor_calls import plain_tensor, tensor_call

__all__ = [
    "Generated",
    "Generator",
    "assert_structural_equal",
    "generate",
    "plain_tensor",
    "shrink",
    "size",
    "structural_equal",
    "tensor_call",
]
