"""Read the inputs of a run from files, or generate random ones."""

from __future__ import annotations

import zipfile
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..ir.errors import RelayError
from ..ir.types import TensorType, Type

if TYPE_CHECKING:
    from numpy import ndarray as Array

    from ..ir.module import IRModule

MAX_BYTES = 1 << 34  # of one random input


def read_inputs(texts: Sequence[str], names: Sequence[str]) -> dict[str, Array]:
    """Read `--input` values, `x.npz` or `name=x.npy`, for inputs called `names`."""
    values: dict[str, Array] = {}
    for text in texts:
        name, equals, path = text.partition("=")
        if not equals or Path(text).is_file():
            values |= _archive(text, names)
        elif name not in names:
            raise RelayError(f"there is no input `{name}`", help=[_listed(names)])
        else:
            values[name] = _array(name, path)
    return values


def _archive(path: str, names: Sequence[str]) -> dict[str, Array]:
    loaded = _loaded(path)
    if not isinstance(loaded, dict):
        loaded = {"": loaded}
    if len(loaded) == 1 and len(names) == 1 and names[0] not in loaded:
        return {names[0]: next(iter(loaded.values()))}  # the only possible match
    unknown = [name for name in loaded if name not in names]
    if unknown:
        arrays = ", ".join(f"`{name}`" for name in unknown[:8])
        raise RelayError(
            f"`{path}` has arrays that the program does not take: {arrays}", help=[_listed(names)]
        )
    return loaded


def _array(name: str, path: str) -> Array:
    loaded = _loaded(path)
    if isinstance(loaded, dict):
        if len(loaded) != 1:
            shown = ", ".join(f"`{array}`" for array in list(loaded)[:8])
            more = " …" if len(loaded) > 8 else ""
            raise RelayError(
                f"`--input {name}=FILE` needs one array, but `{path}` has {len(loaded)}"
                + (f" ({shown}{more})" if loaded else ""),
                help=[
                    f"use --input {path}, which matches arrays to inputs by name",
                    "or save one array as a .npy file",
                ],
            )
        return next(iter(loaded.values()))
    return loaded


def _loaded(path: str) -> Array | dict[str, Array]:
    import numpy as np

    try:
        loaded = np.load(path, allow_pickle=False)
        if isinstance(loaded, np.ndarray):
            return loaded
        with loaded:
            return {name: loaded[name] for name in loaded.files}
    except (ValueError, EOFError, zipfile.BadZipFile, MemoryError) as problem:
        raise RelayError(f"`{path}` cannot be read as a .npy or .npz file: {problem}") from None


def _listed(names: Sequence[str]) -> str:
    shown = ", ".join(f"`{name}`" for name in names[:12])
    return (
        f"the inputs are {shown}{' …' if len(names) > 12 else ''}" if names else "the program has no inputs"
    )


def random_input(name: str, type_: Type | None, seed: int, shape: Sequence[int | str] | None = None) -> Array:
    """Return random values of a type: normally distributed, or for integers 0 and 1, which are valid indices
    of almost anything. `shape` has the sizes of its dynamic axes.
    """
    import numpy as np

    if not isinstance(type_, TensorType):
        raise RelayError(
            f"the input `{name}` has the type `{type_}`; random values can only be generated for tensors",
            help=[
                "pass all arguments to the interpreter: relay-explorer explore FILE --view evaluation "
                "--arg VALUE …"
            ],
        )
    dims = _sizes(name, type_, shape)
    count = 1
    for dim in dims:
        count *= dim
    if count * 8 > MAX_BYTES:
        raise RelayError(
            f"random values for the input `{name}` of shape {tuple(dims)} would take {count * 8:,} bytes; "
            f"at most {MAX_BYTES:,} are generated",
            help=["give a smaller --shape", "or the values: --input FILE.npz"],
        )
    generator = np.random.default_rng([seed, *name.encode()])
    if type_.dtype.startswith(("float", "bfloat")):
        dtype = "float32" if type_.dtype == "bfloat16" else type_.dtype
        return generator.standard_normal(dims).astype(dtype)
    return generator.integers(0, 2, dims).astype(type_.dtype)


def _sizes(name: str, type_: TensorType, shape: Sequence[int | str] | None) -> list[int]:
    known = list(shape or type_.shape)
    if len(known) != len(type_.shape):
        raise RelayError(f"--shape gives `{name}` {len(known)} axes, but its type is {type_}")
    sizes = []
    for own, requested in zip(type_.shape, known):
        size = own if isinstance(own, int) else requested
        if not isinstance(size, int):
            example = ",".join("1" if not isinstance(dim, int) else str(dim) for dim in type_.shape)
            raise RelayError(
                f"the input `{name}` has the type {type_}, whose shape is known only at run time",
                help=[f"give the shape: --shape {name}={example}", "or the values: --input FILE.npz"],
            )
        sizes.append(size)
    return sizes


def gathered(
    types: Mapping[str, Type | None],
    texts: Sequence[str],
    seed: int,
    shapes: Mapping[str, Sequence[int | str]],
) -> tuple[dict[str, Array], list[str]]:
    """Return the inputs by name, and the names of those that are random."""
    values = read_inputs(texts, list(types))
    random = [name for name in types if name not in values]
    for name in random:
        values[name] = random_input(name, types[name], seed, shapes.get(name))
    return {name: values[name] for name in types}, random


def main_arguments(
    mod: IRModule, params: Mapping[str, Any], texts: Sequence[str], seed: int, shapes: Mapping[str, Any]
) -> list[Any]:
    """Return the arguments of `@main`: its inputs, and the values of its weights."""
    main = mod["main"]
    types = {p.name_hint: p.type_annotation for p in main.params if p.name_hint not in params}
    values, _ = gathered(types, texts, seed, shapes)
    return [params[p.name_hint] if p.name_hint in params else values[p.name_hint] for p in main.params]


def joined(names: Iterable[str]) -> str:
    """Join names for a message."""
    return ", ".join(names)
