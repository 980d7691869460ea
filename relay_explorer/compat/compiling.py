"""Compile old code's programs: map the targets that it names to this package's, and call
`relay_explorer.build`.

Where TVM is not installed, programs run in the interpreter, and a warning says so once.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from ..ir.bind import bind_params_by_name
from ..ir.errors import RelayError
from ..ir.expr import Expr, Function
from ..ir.module import IRModule
from ..transform import InferType
from ..transform.infrastructure import PassContext
from .devices import Device, Target

if TYPE_CHECKING:
    from ..lower.runtime.executable import Executable

_said: set[str] = set()


def say_once(name: str, what: str) -> None:
    """Warn, the first time, that the function or target called `name` behaves differently than in TVM."""
    if name not in _said:
        _said.add(name)
        warnings.warn(f"{name} {what}", stacklevel=3)


def compiler_is_here() -> bool:
    """Whether the versions of TVM that can compile programs are installed."""
    from ..lower.require import versions

    try:
        versions()
    except RelayError:
        return False
    return True


def check_given(ir_mod: object, params: object) -> None:
    """Check that there is a program, and that parameters are passed by name."""
    if not isinstance(ir_mod, (IRModule, Expr)):
        raise RelayError(f"a program is a module or a function, not a value of type {type(ir_mod).__name__}")
    if params is not None and not hasattr(params, "items"):
        raise RelayError(f"`params` must map names to values, not be a value of type {type(params).__name__}")


def typed_module(ir_mod: IRModule | Function, params: Mapping[str, Any] | None) -> IRModule:
    """Return the typed module, with `params` bound to the parameters of `@main` by name. InferType runs under
    the current PassContext, so that its instruments see the build.
    """
    check_given(ir_mod, params)
    module = IRModule.from_expr(ir_mod).copy()
    if params:
        module["main"] = bind_params_by_name(module["main"], params)
    return InferType()(module)


def built(
    name: str,
    ir_mod: IRModule | Function,
    target: object = None,
    params: Mapping[str, Any] | None = None,
    executor: str | None = None,
) -> Executable:
    """Compile `ir_mod` under the current PassContext, for the function `name` of old code."""
    module = typed_module(ir_mod, params)
    if not compiler_is_here():
        from ..lower.require import INSTALL
        from ..lower.runtime.virtual import InterpretedExecutable
        from ..lower.targets.target import Target as Lowered

        say_once(
            name,
            f"does not compile here: the result runs in the interpreter; install the compiler with {INSTALL}",
        )
        return InterpretedExecutable(module, Lowered("cpu", '{"kind": "llvm"}', 16, 1))
    from ..lower.build import build

    level = min(4, max(0, PassContext.current().opt_level))
    return build(module, chosen_target(target), opt_level=level, executor=executor, quiet=True)


def chosen_target(target: object) -> object:
    """Return the target to compile for where old code passes `target`: a target, a dictionary of targets by
    device, or None for the target of the innermost `with`. A GPU that is not available, or a kind of target
    that this package has no schedules for, is replaced by this machine's CPU, with a warning.
    """
    from ..lower.targets.target import Target as Lowered

    if isinstance(target, Mapping) and "kind" not in target:
        target = next(iter(target.values()), None)
    if isinstance(target, (list, tuple)):
        target = target[0] if target else None
    target = target if target is not None else Target.current()
    if target is None or isinstance(target, Device):
        return "cpu"
    text = str(Target(target)) if isinstance(target, (str, dict, Target)) else str(target)
    kind = (text.split() or [""])[0]
    if kind == "cuda":
        gpu = Lowered.of("cuda")
        if gpu.runs_here:
            return gpu
        say_once(
            "cuda", "is not available as a target: no usable GPU was found, so this machine's CPU is used"
        )
        return "cpu"
    if kind != "llvm":
        say_once(kind, "is a target without schedules here, so this machine's CPU is used")
        return "cpu"
    return text


__all__ = ["built", "chosen_target", "compiler_is_here", "say_once", "typed_module"]
