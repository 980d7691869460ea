"""The options of the backend: `torch.compile(model, backend="relay", options={"opt_level": 2})`."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any

from ...ir.errors import RelayError
from ..base.context import Converter


@dataclasses.dataclass(frozen=True)
class Options:
    """How a captured graph is compiled.

    `opt_level` and `target` are those of `relay_explorer.build`. With `check`, the results of a graph's first
    call are compared with PyTorch's: they may differ by `tolerance`, relative or absolute (by default 1e-3,
    and 5e-2 for 16-bit floating point). With `freeze`, parameters become constants of the program where no
    gradients are needed. `convert_map` maps operators to converters, as in `from_exported_program`. `quiet`
    switches the progress display off. With `strict`, a graph that cannot be compiled raises an error instead
    of running in PyTorch.
    """

    opt_level: int = 3
    target: object = "cpu"
    check: bool = True
    tolerance: float | None = None
    freeze: bool = True
    convert_map: Mapping[str, Converter] | None = None
    quiet: bool = True
    strict: bool = False

    @staticmethod
    def of(given: Mapping[str, Any] | None) -> Options:
        """Return options from those that were passed to `torch.compile`; raise a RelayError for others."""
        names = [field.name for field in dataclasses.fields(Options)]
        unknown = [name for name in given or {} if name not in names]
        if unknown:
            raise RelayError(
                f'the backend "relay" has no option {unknown[0]!r}', help=[f"it has {', '.join(names)}"]
            )
        return Options(**dict(given or {}))
