"""Extends TVM's pass pipeline for a kernel's loops by a pass that rewrites nodes of one kind."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..require import tvm


def registered(name: str, kind: str, change: Callable[[Any], Any], title: str, *, on_host: bool) -> str:
    """Register TVM's default pipeline under `name`, extended by a pass that applies `change` to every node of
    the class `tirx.KIND`, innermost first. The pass runs before those over host functions (`on_host`), or
    after those over device functions. Return the name.
    """
    from importlib import import_module

    compilation = import_module("tvm.tirx.compilation_pipeline")
    transform = tvm().ir.transform

    def ours() -> Any:
        return _pass(kind, change, title)

    def passes() -> tuple[Any, Any, Any]:
        before, host, device = compilation.get_tir_pipeline("default")
        if on_host:
            return before, lambda: transform.Sequential([ours(), host()]), device
        return before, host, lambda: transform.Sequential([device(), ours()])

    compilation.register_tir_pipeline(name, passes)
    return name


def _pass(kind: str, change: Callable[[Any], Any], title: str) -> Any:
    tirx = tvm().tirx

    def transformed(function: Any, mod: Any, context: Any) -> Any:
        from tvm_ffi import structural_map

        return function.with_body(structural_map(function.body, (getattr(tirx, kind), change), order="post"))

    return tirx.transform.prim_func_pass(transformed, opt_level=0, name=title)
