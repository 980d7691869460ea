"""Which chapter writes which file of the reader's compiler."""

from __future__ import annotations

CHAPTER = {
    "ir.py": 4,
    "printer.py": 4,
    "scopes.py": 5,
    "interpreter.py": 6,
    "visitor.py": 8,
    "importer.py": 9,
    "types.py": 10,
    "relations.py": 11,
    "solver.py": 12,
    "passes.py": 14,
    "folding.py": 15,
    "cse.py": 15,
    "dce.py": 15,
    "fusion.py": 16,
    "partial.py": 18,
    "gradient.py": 19,
    "loops.py": 21,
    "c_code.py": 22,
    "memory.py": 25,
    "executor.py": 25,
}
