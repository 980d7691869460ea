"""Translate a whole program to C: `native_source` returns one C file, its header, and its constants as bytes.

The kernels are functions of other object files, in TVM's calling convention; `kernels` lists the names that
they must have there.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from functools import cache
from importlib.resources import files
from typing import Any

from ...ir.adt import Constructor
from ...ir.errors import RelayError
from ...ir.expr import Function
from ...ir.lazy_dataclass import dataclass
from ...ir.module import IRModule
from ...ir.ndarray import NDArray
from ...ir.nest import leaf_types
from ...ir.types import FuncType, Type
from ...ir.walk import type_children
from ...text import parse_expr
from ..vm.bytecode import AllocClosure, KernelCode, VMFunction, VMProgram
from ..vm.tensors import argument_types
from .expected import Expectations
from .functions import FunctionWriter
from .names import WORDS, Naming, comment, dtype_parts, identifier, own_names, string

ALIGNMENT = 64
MAIN = "main"
MAX_NAMES = 1 << 16  # a value stores the number of its function or constructor in 16 bits


@dataclass(frozen=True)
class NativeSource:
    """A program in C. `code` includes the bytes of `constants` from a file called `{prefix}.bin`; `tags` are
    the numbers of constructors by type and name, `arguments` the parameters of `@main`, `kernels` the names
    of the kernels' functions.
    """

    prefix: str
    code: str
    header: str
    constants: bytes
    tags: dict[tuple[str, str], int]
    arguments: tuple[str, ...]
    kernels: tuple[str, ...]


def native_source(
    program: VMProgram,
    sizes: Sequence[list[list[Any]] | None],
    prefix: str = "program",
    types: Sequence[Type | None] | None = None,
) -> NativeSource:
    """Compile the program to C. `sizes` states for each kernel how the sizes of its results follow from those
    of its arguments, as `lower.codegen.symbolic_sizes` encodes them, or None where they are static. `types`
    are those of the parameters of `@main`, which the interface checks. Names of the interface begin with
    `prefix`. Raise a RelayError where a part of the program only runs in Python.
    """
    if not isinstance(prefix, str) or not re.fullmatch(r"[A-Za-z]\w{0,199}", prefix, re.ASCII):
        raise RelayError(f"{prefix!r:.60} cannot be the beginning of names in C")
    if prefix in WORDS or prefix == MAIN:
        raise RelayError(f'"{prefix}" is reserved in C', help=["choose another name: build(…, name=…)"])
    if any(f"{prefix}_{name}" in _runtime_names() for name in _interface_names()):
        raise RelayError(
            f'names that begin with "{prefix}_" are those of the program\'s own parts in C',
            help=["choose another name: build(…, name=…)"],
        )
    if MAIN not in program.functions:
        raise RelayError("the program has no `@main`, where execution starts")
    names = Naming(program, sizes)
    if max(len(program.functions), len(names.tags)) >= MAX_NAMES:
        raise RelayError(f"a program in C has fewer than {MAX_NAMES:,} functions, and as many constructors")
    main = program.functions[MAIN]
    bodies = [FunctionWriter(function, names).write() for function in program.functions.values()]
    places, constants = _lay_out(names.constants)
    here = files(__package__)
    expected = Expectations(names, program.types)
    makers = _constructors(program, names, prefix, expected)
    expectations = expected.table("main_types", types or [None] * len(main.params))
    outside = functions_go_out(program)
    typed = _typed_closures(program, names, expected) if outside else {}
    shown = ", ".join([string(name) for name in main.params])
    expectations += f"\nstatic const char *const main_names[] = {{{shown or 'NULL'}}};"
    parts = [
        f"/* {prefix}: made from a Relay program; it is linked with the object files of its kernels. */\n",
        f"enum {{ FUNCTIONS_GO_OUT = {int(outside)}, FROM_OUTSIDE = {len(program.functions)} }};\n",
        *[(here / name).read_text("utf-8") for name in ("runtime.c", "cells.c", "parallel.c", "kernels.c")],
        _kernels(program, prefix, names),
        *[(here / name).read_text("utf-8") for name in ("clock.c", "exchange.c", *names.parts)],
        "\n/* ---- the program */\n",
        f"enum {{ MAIN = {names.numbers[MAIN]}, MAIN_ARGUMENTS = {len(main.params)} }};\n",
        _constants(names.constants, places, prefix, names),
        _scalars(names),
        _shapes(names),
        _HELPERS,
        *expected.lines,
        expectations,
        _table(program, names, typed),
        "\n".join(bodies),
        (here / "interface.c").read_text("utf-8").replace("PREFIX", prefix),
        makers,
        _run(main, prefix, define=True),
    ]
    header = (here / "header.h").read_text("utf-8").replace("PREFIX_LIBRARY", f"lib{prefix}.so")
    header = header.replace("CONSTRUCTORS\n", _constructors(program, names, prefix))
    header = header.replace("RUN\n", _run(main, prefix, define=False))
    header = header.replace("PREFIX_H", f"{prefix.upper()}_H").replace("PREFIX", prefix)
    symbols = tuple([f"{prefix}_{names.kernel(number)}" for number in range(len(program.kernels))])
    return NativeSource(prefix, "\n".join(parts), header, constants, names.tags, main.params, symbols)


def _kernels(program: VMProgram, prefix: str, names: Naming) -> str:
    lines = []
    for number in range(len(program.kernels)):
        name = names.kernel(number)
        lines.append(f"extern int {prefix}_{name}(void *, const Argument *, int32_t, Argument *);")
        lines.append(f"#define {name} {prefix}_{name}")
    rows = [f"{{{string(code.name)}, {int(_is_open(code))}}}" for code in program.kernels]
    lines.append(f"enum {{ KERNELS = {len(rows)} }};")
    lines.append("static const struct { const char *name; char open; } kernel_table[] = {")
    lines += [f"  {row}," for row in rows or ["{NULL, 0}"]]
    lines.append("}; /* open: only a run tells all sizes of its tensors */")
    return "\n".join(lines) + "\n"


def _is_open(code: KernelCode) -> bool:
    """Whether some sizes of a kernel's tensors are known only at run time."""
    inputs, outputs = argument_types(code.function), leaf_types(code.function.body.checked_type)
    return not all(type_.is_static for type_ in [*(inputs or []), *(outputs or [])])


# -- constants


def _lay_out(constants: Sequence[NDArray]) -> tuple[list[int], bytes]:
    """Lay out the constants in one block of memory; return the offset of each, and the bytes of all."""
    data = bytearray()
    offsets = []
    for constant in constants:
        data.extend(bytes(-len(data) % ALIGNMENT))
        offsets.append(len(data))
        data.extend(constant.data if isinstance(constant.data, bytes) else bytes(constant.data))
    data.extend(bytes(ALIGNMENT))  # so that a constant without elements has an address too
    return offsets, bytes(data)


def _constants(constants: Sequence[NDArray], places: Sequence[int], prefix: str, names: Naming) -> str:
    if not constants:
        return ""
    label = f"{prefix}_constants"
    lines = [
        f'__asm__(".section .rodata\\n.balign 64\\n{label}:\\n.incbin \\"{prefix}.bin\\"\\n.previous\\n");',
        f'extern const char {label}[] __attribute__((visibility("hidden")));',
    ]
    definitions = []
    for number, (constant, place) in enumerate(zip(constants, places)):
        data = f"(void *)({label} + {place})"
        definitions.append(_tensor(f"c{number}", data, constant.dtype, constant.shape, names))
    return "\n".join([*lines, _shapes(names), *definitions])


def _tensor(name: str, data: str, dtype: str, shape: tuple[int, ...], names: Naming) -> str:
    code, bits = dtype_parts(dtype)
    return (
        f"static TensorObject {name} = {{{{FOREVER, TENSOR, 0, 0, 0, 0, NULL}}, {{{data}, {{1, 0}}, "
        f"{len(shape)}, {{{code}, {bits}, 1}}, {names.shape(shape)}, NULL, 0}}, NULL}};"
    )


_C_TYPES = {"bool": "uint8_t", **{f"{u}int{n}": f"{u}int{n}_t" for u in ("", "u") for n in (8, 16, 32, 64)}}


def _scalars(names: Naming) -> str:
    lines = []
    for (value, dtype), name in names.scalars.items():
        if dtype not in _C_TYPES:
            raise RelayError(f"C has no numbers of the type `{dtype}`")
        bits = dtype_parts(dtype)[1]
        literal = f"(int64_t)UINT64_C({value % 2**64})" if bits == 64 else str(value)
        lines.append(f"static const {_C_TYPES[dtype]} {name}_data __attribute__((aligned(64))) = {literal};")
        lines.append(_tensor(name, f"(void *)&{name}_data", dtype, (), names))
    return "\n".join(lines) + "\n"


def _shapes(names: Naming) -> str:
    """Define the shapes that have not been defined yet."""
    lines = []
    for shape, name in names.shapes.items():
        if name not in names.written:
            names.written.add(name)
            lines.append(f"static const int64_t {name}[] = {{{', '.join(map(str, shape))}}};")
    return "\n".join(lines) + "\n"


# -- functions

_HELPERS = """\
static inline int64_t floor_div(int64_t a, int64_t b) {
  return b ? a / b - (a % b && (a < 0) != (b < 0)) : 0;
}
static inline int64_t floor_mod(int64_t a, int64_t b) { return a - floor_div(a, b) * b; }
static inline int64_t least(int64_t a, int64_t b) { return a < b ? a : b; }
static inline int64_t greatest(int64_t a, int64_t b) { return a > b ? a : b; }
static uint32_t arity_of(const Object *closure);

/* A shape as a value: a tensor of its sizes. */
static Object *shape_value(Machine *m, int64_t rank, const int64_t *sizes) {
  Object *made = tensor_of(m, (Type){0, 64, 1}, 1, &rank, NULL);
  if (made) memcpy(TENSOR_OF(made)->data, sizes, (size_t)rank * sizeof *sizes);
  return made;
}

/* Puts what a closure holds behind its arguments, and gives the closure back. */
static void captured(Machine *m, Object *closure, Object **to) {
  for (uint32_t k = 0; k < closure->count; k++) to[k] = keep(PART(closure, k));
  drop(m, closure);
}
"""


def functions_go_out(program: VMProgram) -> bool:
    """Whether `@main` may take or return functions, or data that contain functions."""
    if any("fn (" in text for text in program.functions[MAIN].types):
        return True
    pending = [
        part for data in program.types for constructor in data.constructors for part in constructor.inputs
    ]
    while pending:
        type_ = pending.pop()
        if isinstance(type_, FuncType):
            return True
        pending += type_children(type_)
    return False


def _typed_closures(program: VMProgram, names: Naming, expected: Expectations) -> dict[str, str]:
    """Define tables of the types of those functions that are used as values; return their names by function,
    where the types are known.
    """
    tables = {}
    for name in dict.fromkeys(
        i.function for f in program.functions.values() for i in f.code if isinstance(i, AllocClosure)
    ):
        types = _types_of(program, program.functions[name])
        if types is not None:
            tables[name] = f"types_of_{names.functions[name]}"
            # Captured values are not checked.
            between = [None] * program.functions[name].captured
            expected.lines.append(expected.table(tables[name], [*types[:-1], *between, types[-1]]))
    return tables


def _types_of(program: VMProgram, function: VMFunction) -> list[Type] | None:
    """Return the types of a function's parameters, followed by that of its result."""
    text = f"fn ({', '.join(f'%x{k}: {t}' for k, t in enumerate(function.types))}) {{ () }}"
    try:
        header = parse_expr(text, init_module=IRModule({}, {data.header: data for data in program.types}))
    except RelayError:  # a type variable
        return None
    types = [param.type_annotation for param in header.params] if isinstance(header, Function) else []
    return [t for t in types if t is not None] if all(types) else None


def _table(program: VMProgram, names: Naming, typed: Mapping[str, str]) -> str:
    lines = [f"static int {name}(Machine *, Object **, int);" for name in names.functions.values()]
    lines.append("\nstatic const Function functions[] = {")
    for name, function in program.functions.items():
        count = len(function.params) + function.captured
        shown = string(name)[1:-1]
        lines.append(
            f'  {{{names.functions[name]}, {max(1, function.registers, count)}, {count}, "@{shown}", '
            f"{typed.get(name, 'NULL')}}},"
        )
    lines.append('  {call_outside, MAX_ARGUMENTS + 1, 0, "an external function", NULL},')
    return "\n".join([*lines, "};\n"])


# -- the interface


def _constructors(
    program: VMProgram, names: Naming, prefix: str, expected: Expectations | None = None
) -> str:
    """Write the C functions that build constructed values: their definitions, or without `expected` their
    declarations.
    """
    constructors: list[tuple[str, str, Constructor, int]] = []
    for data in program.types:
        for constructor in data.constructors:
            header = data.header.name_hint
            constructors.append(
                (header, constructor.name_hint, constructor, names.tags[header, constructor.name_hint])
            )
    kernels = [names.kernel(number) for number in range(len(program.kernels))]
    inside = [name.removeprefix(f"{prefix}_") for name in _runtime_names()]
    reserved = [*_interface_names(), *kernels, *inside]
    count = Counter(name for _, name, _, _ in constructors)
    whole = [name if count[name] == 1 else f"{header}_{name}" for header, name, _, _ in constructors]
    lines = []
    for (header, name, constructor, tag), own in zip(constructors, own_names(whole, reserved)):
        called = f"{prefix}_{own}"
        arguments = [f"_{k}" for k in range(len(constructor.inputs))]
        if expected is not None:
            params = ", ".join(["Machine *m", *[f"Object *{a}" for a in arguments]])
            fields = f"(Object *[]){{{', '.join(arguments)}}}" if arguments else "NULL"
            lines.append(expected.table(f"types_of_{tag}", constructor.inputs))
            body = f"return from_parts(m, {tag}, {len(arguments)}, {fields}, types_of_{tag});"
            lines.append(f"API Object *{called}({params}) {{ {body} }}")
        else:
            params = ", ".join([f"{prefix} *", *[f"{prefix}_value" for _ in arguments]])
            types = ", ".join(str(t) for t in constructor.inputs)
            lines.append(f"enum {{ {called}_tag = {tag} }}; /* {comment(f'{header}: {name}({types})')} */")
            lines.append(f"{prefix}_value {called}({params});")
    return "\n".join(["", *lines, ""]) if lines else ""


@cache
def _interface_names() -> frozenset[str]:
    """Return the suffixes that follow the prefix in names of the interface and of constructors' tags."""
    here = files(__package__)
    text = "".join((here / name).read_text("utf-8") for name in ("header.h", "interface.c"))
    names = {"run", "constants", *re.findall(r"\bPREFIX_(\w+)", text)}
    return frozenset(names | {name.removesuffix("_tag") for name in names})


@cache
def _runtime_names() -> frozenset[str]:
    """Return the identifiers that occur in the C files of this package."""
    here = files(__package__)
    text = "".join(part.read_text("utf-8") for part in here.iterdir() if part.name.endswith(".c"))
    return frozenset(re.findall(r"\b[A-Za-z]\w+", text))


def _run(main: VMFunction, prefix: str, define: bool) -> str:
    arguments = [f"_{identifier(name)}_{k}" for k, name in enumerate(main.params)]
    if define:
        params = ", ".join(["Machine *m", *[f"Object *{a}" for a in arguments], "Object **result"])
        parameters = f"(Object *[]){{{', '.join(arguments)}}}" if arguments else "NULL"
        return f"API int {prefix}_run({params}) {{ return run_main(m, {parameters}, result, 1); }}\n"
    lines = [f"   %{name}: {type_}" for name, type_ in zip(main.params, main.types)]
    shown = "\n".join([*[comment(line).replace("%", "   %", 1) for line in lines], ""])
    values = [f"{prefix}_value {name}" for name in own_names(main.params, ["result", prefix])]
    params = ", ".join([f"{prefix} *", *values, f"{prefix}_value *result"])
    return f"/*\n{shown}   result: {comment(main.types[-1])} */\nint {prefix}_run({params});\n\n"
