"""Marks in a program for passes, for `relay.annotation`: each is the value that it is put around."""

from __future__ import annotations

from typing import Any as Anything

from ..ir.attrs import Attrs, attr, required
from ..ir.expr import Call, Expr
from ..ir.op import Op
from ..ir.virtual_device import VirtualDevice
from .arguments import expr
from .declare import declare
from .register import SAME_TYPE

__all__ = ["checkpoint", "compiler_begin", "compiler_end", "on_device", "stop_fusion"]


class CompilerAttrs(Attrs, key="relay.attrs.CompilerAttrs"):
    compiler: str = required("The compiler that is to get this part of the program.")


class OnDeviceAttrs(Attrs, key="relay.attrs.OnDeviceAttrs"):
    virtual_device: VirtualDevice = attr("", 'The device, such as "cuda:0"; "" where none is demanded.')
    constrain_result: bool = attr(False, "Whether the result must be on the device, too.")
    constrain_body: bool = attr(True, "Whether the argument must be computed on the device.")


def _mark(name: str, description: str, attrs: type[Attrs] | None = None) -> Op:
    """Declares a mark: nothing is computed, in no kernel."""
    op = declare(
        name,
        description,
        formula="y = x",
        relation=SAME_TYPE,
        attrs=attrs,
        family="other",
        level=10,
        compute=_itself,
        gradient="elementwise.same",
        lowering="annotation.itself",
    )
    op.set_attr("TNonComputational", True)
    return op


def _itself(attrs: Anything, data: Anything) -> Anything:
    return data


_BEGIN = _mark("annotation.compiler_begin", "Marks where a value enters a compiler's region.", CompilerAttrs)
_END = _mark("annotation.compiler_end", "Marks where a value leaves a compiler's region.", CompilerAttrs)
_STOP = _mark("annotation.stop_fusion", "Keeps what computes its argument out of the kernel of what uses it.")
_CHECKPOINT = _mark("annotation.checkpoint", "Marks what is computed again, not kept, for the gradient.")
_ON_DEVICE = _mark("on_device", "Says on which device its argument is computed.", OnDeviceAttrs)


def compiler_begin(data: Expr, compiler: str) -> Call:
    """`data` as an input of a region for `compiler`. Regions are cut out by PartitionGraph."""
    return Call(_BEGIN, [expr(data)], CompilerAttrs(compiler=compiler))


def compiler_end(data: Expr, compiler: str) -> Call:
    """`data` as a result of a region for `compiler`."""
    return Call(_END, [expr(data)], CompilerAttrs(compiler=compiler))


def stop_fusion(data: Expr) -> Call:
    """`data`, which FuseOps does not compute in one kernel with what uses it."""
    return Call(_STOP, [expr(data)])


def checkpoint(data: Expr) -> Call:
    """`data`, marked as what a gradient may compute a second time instead of keeping it."""
    return Call(_CHECKPOINT, [expr(data)])


def on_device(
    body: Expr, device: object, constrain_result: bool = False, constrain_body: bool = True
) -> Call:
    """`body`, which is to be computed on `device` ("cuda:0", or an object such as `tvm.cuda(0)`).

    With `constrain_result` the result must be there as well, and without `constrain_body` the argument may be
    computed anywhere. Here a program runs on one device, so this is only a mark, which passes keep in place.
    """
    place = VirtualDevice.of(device) if constrain_result or constrain_body else ""
    attrs = OnDeviceAttrs(
        virtual_device=place, constrain_result=constrain_result, constrain_body=constrain_body
    )
    return Call(_ON_DEVICE, [expr(body)], attrs)
