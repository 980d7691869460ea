"""Convert operators to a preferred layout (`FTVMConvertOpLayout`), and exclude layers from conversion."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any as Anything
from typing import ClassVar

from ...ir.attrs import Attrs
from ...ir.errors import RelayError
from ...ir.expr import Call, Expr
from ...ir.op import Op
from ...ops.layouts.layout import Layout, is_layout

PROPERTY = "FTVMConvertOpLayout"
# Takes the attributes, the new arguments, the types of the old ones, and the preferred layouts.
Conversion = Callable[[Attrs, Sequence[Expr], Sequence[Anything], Sequence[str]], Expr | None]


class LayoutConfig:
    """A context manager that excludes layers from ConvertLayout: those in `skip_layers`, counted from 0 in
    the order in which the pass visits them, keep their layouts.
    """

    current: ClassVar[LayoutConfig | None] = None

    def __init__(self, skip_layers: Sequence[int] | None = None) -> None:
        self.skip_layers = list(skip_layers or [])
        self.skip_counter = 0
        self._before: list[LayoutConfig | None] = []

    def check_skip(self) -> bool:
        """Count the next layer, and return whether it is excluded."""
        skipped = self.skip_counter in self.skip_layers
        self.skip_counter += 1
        return skipped

    def reset(self) -> None:
        self.skip_counter, self.skip_layers = 0, []

    def __enter__(self) -> LayoutConfig:
        self._before.append(LayoutConfig.current)
        LayoutConfig.current = self
        return self

    def __exit__(self, *exception: object) -> None:
        LayoutConfig.current = self._before.pop()


def _skipped() -> bool:
    return LayoutConfig.current is not None and LayoutConfig.current.check_skip()


def converted(call: Call, types: Sequence[Anything], preferred: Sequence[str]) -> Call | None:
    """Convert a call to the preferred layouts; None if its operator cannot be converted, or need not be."""
    op = call.op
    assert isinstance(op, Op)
    convert = op.get_attr(PROPERTY)
    result = (
        convert(call.attrs, list(call.args), list(types), list(preferred))
        if convert
        else _default(call, types, preferred)
    )
    if result is not None and not isinstance(result, Call):
        raise RelayError(
            f"the layout of `{op.name}` is converted into {result!r:.80}",
            help=["it must be a call of an operator"],
        )
    return result


def _default(call: Call, types: Sequence[Anything], preferred: Sequence[str]) -> Call | None:
    op, attrs = call.op, call.attrs
    assert isinstance(op, Op)
    if attrs is None:
        return None
    if op.kernel_layouts:
        if op.kernel_layouts.get("NCHW") == "OIHW" and _skipped():  # TVM counts no other layers
            return None
        return _layer(call, op, types, preferred)
    if "layout" not in attrs:
        return None
    data = _named(op.name, preferred[0] if preferred else "default")
    new_attrs = (
        attrs.replace(layout=data, out_layout=data) if "out_layout" in attrs else attrs.replace(layout=data)
    )
    return Call(op, call.args, new_attrs, None, call.span)


def _named(operator: str, name: str) -> str:
    if name == "default" or not is_layout(name):
        raise RelayError(
            f"`{operator}` cannot be converted to the layout {name!r}",
            help=[
                'the layout of the data must be named, such as "NHWC"; only that of a weight may be "default"'
            ],
        )
    return name


def _layer(call: Call, op: Op, types: Sequence[Anything], preferred: Sequence[str]) -> Call | None:
    """Convert a convolution to the preferred layouts of data and weight."""
    attrs, name = call.attrs, op.name
    assert attrs is not None
    if len(preferred) != 2:
        raise RelayError(
            f"`{name}` has data and a weight, but {len(preferred)} layouts are requested: {list(preferred)}",
            help=['give both, such as ["NHWC", "HWIO"], or ["NHWC", "default"]'],
        )
    data, kernel = _named(name, str(preferred[0])), str(preferred[1])
    if kernel == "default":
        kernel = _default_kernel(op, data, attrs, types)
    elif not is_layout(kernel):
        raise RelayError(f"`{name}` cannot have its weight in the layout {kernel!r}")
    layout = Layout(data)
    channels = Layout(attrs["data_layout"]).index_of("C")
    if layout.splits("C") and not _divides(types[0].shape[channels], layout.factor_of("C")):
        return None
    if name == "nn.conv2d" and attrs["groups"] == 1 and data.startswith("NCHW") and layout.splits("C"):
        op = Op.get("nn.contrib_conv2d_NCHWc")
        assert op.attrs_class is not None
        attrs = op.attrs_class(**{field: attrs[field] for field in attrs})
    return Call(op, call.args, attrs.replace(data_layout=data, kernel_layout=kernel), None, call.span)


def _divides(size: object, factor: int) -> bool:
    return isinstance(size, int) and size % factor == 0


def _default_kernel(op: Op, data: str, attrs: Attrs, types: Sequence[Anything]) -> str:
    name, defaults = op.name, op.kernel_layouts
    if data not in defaults:
        raise RelayError(
            f'`{name}` has no default layout of the weight for the layout "{data}" of the data',
            help=[f"name it; there are defaults for {', '.join(defaults)}"],
        )
    if name == "nn.conv2d" and data == "NHWC" and _is_depthwise(attrs, types):
        return "HWOI"
    return defaults[data]


def _is_depthwise(attrs: Attrs, types: Sequence[Anything]) -> bool:
    """Whether each channel is convolved separately."""
    data, kernel = Layout(attrs["data_layout"]), Layout(attrs["kernel_layout"])
    channels = types[0].shape[data.index_of("C")]
    outputs = types[1].shape[kernel.index_of("O")]
    return bool(attrs["groups"] > 1 and channels == attrs["groups"] and channels == outputs)
