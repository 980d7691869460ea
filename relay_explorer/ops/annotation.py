"""Annotations that mark values for passes, in `relay.annotation`: each returns its operand unchanged."""

from __future__ import annotations

from collections.abc import Callable, Collection
from typing import ParamSpec, TypeVar

from ..ir.attrs import Attrs, DType, attr, required
from ..ir.declaration import NotApplicable, Precision, Trait
from ..ir.expr import Call
from ..ir.nest import leaves
from ..ir.virtual_device import VirtualDevice
from .arguments import Operand
from .examples import X
from .gradient_tools import SAME
from .layouts.layout import NO_LAYOUT_RULE, LayoutRule
from .layouts.same import elementwise_layout
from .operator import Example, call, operator
from .relation import SAME_TYPE
from .te.lowered import Lowered
from .te.tensors import Tensor

__all__ = ["cast_hint", "checkpoint", "compiler_begin", "compiler_end", "on_device", "stop_fusion"]

P = ParamSpec("P")
R = TypeVar("R")


class CompilerAttrs(Attrs, key="relay.attrs.CompilerAttrs"):
    compiler: str = required("The compiler that receives this part of the program.")


class CastHintAttrs(Attrs, key="relay.attrs.CastHintAttrs"):
    dtype: DType = required("The element type that the quantized value is to have.")


class OnDeviceAttrs(Attrs, key="relay.attrs.OnDeviceAttrs"):
    virtual_device: VirtualDevice = attr("", 'The device, such as "cuda:0"; "" for any.')
    constrain_result: bool = attr(False, "Whether the result must be on the device, too.")
    constrain_body: bool = attr(True, "Whether the argument must be computed on the device.")


def _operand_te(call: Lowered) -> list[Tensor]:
    """Return the operand's tensors; nested tuples are flattened."""
    return leaves(tuple(call.inputs))


def _mark(
    name: str,
    description: str,
    example: Example,
    attrs: type[Attrs] | None = None,
    layout: LayoutRule | NotApplicable = NO_LAYOUT_RULE,
    traits: Collection[Trait] = (),
) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """Declare an annotation, which computes nothing and becomes no kernel."""
    return operator(
        name,
        description=description,
        formula="y = x",
        relation=SAME_TYPE,
        reference=lambda attrs, data: data,
        gradient=SAME,
        lowering=_operand_te,
        layout=layout,
        precision=Precision.UNLISTED,
        traits={Trait.NON_COMPUTATIONAL, *traits},
        example=example,
        attrs=attrs,
        inputs=("data",),
    )


@_mark(
    "annotation.compiler_begin",
    "Marks a value that enters a region for another compiler.",
    lambda build: build(X, "dsp"),
    CompilerAttrs,
)
def compiler_begin(data: Operand, compiler: str) -> Call:
    """Mark `data` as an input of a region for `compiler`. PartitionGraph cuts out the regions."""


@_mark(
    "annotation.compiler_end",
    "Marks a value that leaves a region for another compiler.",
    lambda build: build(X, "dsp"),
    CompilerAttrs,
)
def compiler_end(data: Operand, compiler: str) -> Call:
    """Mark `data` as a result of a region for `compiler`."""


@_mark(
    "annotation.stop_fusion",
    "Keeps its operand's producer out of its consumers' kernels.",
    lambda build: build(X),
    layout=elementwise_layout,
    traits={Trait.KERNEL_BOUNDARY},
)
def stop_fusion(data: Operand) -> Call:
    """Mark `data`, so that FuseOps does not fuse the operator that computes it with those that use it."""


@_mark(
    "annotation.cast_hint",
    "Marks a value that automatic quantization is to store in a narrow type.",
    lambda build: build(X, "int8"),
    CastHintAttrs,
    layout=elementwise_layout,
    traits={Trait.KERNEL_BOUNDARY},
)
def cast_hint(data: Operand, dtype: str) -> Call:
    """Mark `data` as a value that quantization is to store with the element type `dtype`."""


@_mark(
    "annotation.checkpoint",
    "Marks a value for recomputation in the backward pass; no pass here acts on it.",
    lambda build: build(X),
)
def checkpoint(data: Operand) -> Call:
    """Mark `data` for recomputation in the backward pass. Here this is only a mark: no pass acts on it, and
    the backward pass reuses the value.
    """


@_mark(
    "on_device",
    "Marks the device on which its operand is to be computed.",
    lambda build: build(X, "cpu", constrain_result=True),
    OnDeviceAttrs,
)
def on_device(
    body: Operand, device: object, constrain_result: bool = False, constrain_body: bool = True
) -> Call:
    """Mark `body` as computed on `device` ("cuda:0", or an object such as `tvm.cuda(0)`).

    With `constrain_result` the result must be on the device as well, and without `constrain_body` the
    argument may be computed anywhere. Here a program runs on one device, so this is only a mark, which
    passes preserve.
    """
    virtual_device = VirtualDevice.of(device) if constrain_result or constrain_body else ""
    return call(
        "on_device",
        [body],
        virtual_device=virtual_device,
        constrain_result=constrain_result,
        constrain_body=constrain_body,
    )
