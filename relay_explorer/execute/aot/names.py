"""Name the parts of a program in C."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Any

from ...ir.errors import RelayError
from ...ir.ndarray import NDArray
from ..vm.bytecode import VMProgram

CODES = {"int": 0, "uint": 1, "float": 2, "bfloat": 4, "bool": 6}  # of DLPack


def dtype_parts(dtype: str) -> tuple[int, int]:
    """Return DLPack's type code and number of bits for an element type."""
    if dtype == "bool":
        return CODES["bool"], 8
    match = re.fullmatch(r"(int|uint|float|bfloat)(\d+)", dtype)
    if match is None:
        raise RelayError(f"C has no tensors of `{dtype}`")
    return CODES[match[1]], int(match[2])


class Naming:
    """The names of functions, kernels, constants, constructors and shapes in C."""

    def __init__(self, program: VMProgram, sizes: Sequence[list[list[Any]] | None]) -> None:
        self.program = program
        # By kernel: how the sizes of its results follow from those of its arguments; None: they are static.
        self.sizes = sizes
        self.functions = {name: f"f{n}_{identifier(name)}" for n, name in enumerate(program.functions)}
        self.numbers = {name: n for n, name in enumerate(program.functions)}
        self.tags: dict[tuple[str, str], int] = {}
        for data in program.types:
            for constructor in data.constructors:
                self.tags[data.header.name_hint, constructor.name_hint] = len(self.tags) + 1
        self.shapes: dict[tuple[int, ...], str] = {}
        self.written: set[str] = set()  # names of the shapes that are already defined
        self.scalars: dict[tuple[int, str], str] = {}
        self.constants = [*program.constants]  # the program's, then those of kernels in C
        self.parts: dict[str, None] = {}  # C files of the functions that are called, besides the runtime's

    def kernel(self, number: int) -> str:
        return f"k{number}_{identifier(self.program.kernels[number].name)}"

    def shape(self, shape: tuple[int, ...]) -> str:
        if not shape:
            return "NULL"
        return self.shapes.setdefault(shape, f"shape_{'x'.join(map(str, shape)).replace('-1', 'any')}")

    def constant(self, data: NDArray) -> str:
        """Add a constant that a kernel in C reads, and return its name."""
        self.constants.append(data)
        return f"c{len(self.constants) - 1}"

    def scalar(self, value: int, dtype: str) -> str:
        return self.scalars.setdefault((value, dtype), f"s{len(self.scalars)}")


def identifier(name: str) -> str:
    """Turn a name into a part of a C identifier."""
    return re.sub(r"\W", "_", name, flags=re.ASCII)[:60]


_TEXT = """
alignas alignof and and_eq asm auto bitand bitor bool break case catch char class compl const constexpr
continue decltype default delete do double else enum explicit export extern false float for friend goto
if inline int long mutable namespace new noexcept not not_eq nullptr operator or or_eq private protected
public register restrict reinterpret_cast requires return short signed sizeof static static_assert
static_cast struct switch template this thread_local throw true try typedef typeid typename typeof union
unsigned using virtual void volatile wchar_t while xor xor_eq
"""
WORDS = frozenset(_TEXT.split())  # of C and C++


def own_names(requested: Iterable[str], reserved: Iterable[str]) -> list[str]:
    """Turn names into distinct C identifiers, none of them in `reserved` or a keyword of C or C++."""
    used, names = {*reserved, *WORDS}, []
    for name in requested:
        candidate = identifier(name) or "_"
        if candidate[0].isdigit():
            candidate = f"_{candidate}"
        while candidate in used:
            candidate += "_"
        used.add(candidate)
        names.append(candidate)
    return names


def comment(text: str) -> str:
    """Make a text fit for a C comment, on one line; long text is truncated."""
    return " ".join(text.replace("*/", "* /").replace("/*", "/ *").split())[:160]


def string(text: str) -> str:
    """Write a C string literal; long text is truncated."""
    signs = {"\\": "\\\\", '"': '\\"', "\n": "\\n", "?": "\\?"}
    shown = "".join([signs.get(c, c if c.isprintable() else " ") for c in text[:160]])
    return f'"{shown}"'
