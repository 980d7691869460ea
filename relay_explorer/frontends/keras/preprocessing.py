"""Converters of preprocessing layers that are part of a model."""

from __future__ import annotations

from ...ir.errors import RelayError
from ...ops import namespaces as relay
from ..base.errors import DynamicShapeError
from .activations import elementwise
from .call import Call, Results, Value, layer

_RANDOM = (
    "RandomFlip", "RandomRotation", "RandomZoom", "RandomTranslation", "RandomContrast", "RandomBrightness",
    "RandomHeight", "RandomWidth", "RandomShear", "RandomHue", "RandomErasing", "RandomGaussianBlur",
    "RandomPerspective", "RandomSharpness", "RandomGrayscale", "RandomColorJitter", "RandomPosterization",
    "RandomColorDegeneration", "RandomElasticTransform", "RandomInvert", "RandAugment", "AugMix",
)  # fmt: skip


@layer(*_RANDOM)
def _augmentation(call: Call) -> Results:
    """Return the operand: augmentation acts in training only."""
    value = call.value(0)
    return Value(call.cast(value.expr), value.first)


@layer("Rescaling")
def _rescaling(call: Call) -> Results:
    import numpy as np

    scale, offset = np.asarray(call.attr("scale")), np.asarray(call.attr("offset"))
    if scale.ndim == offset.ndim == 0:
        return elementwise(
            call,
            lambda x: relay.add(
                relay.multiply(relay.cast(x, call.dtype), call.constant(scale)), call.constant(offset)
            ),
        )
    x = relay.cast(call[0], call.dtype)
    return relay.add(relay.multiply(x, call.constant(scale)), call.constant(offset))


@layer("Normalization")
def _normalization(call: Call) -> Results:
    import numpy as np

    mean, variance = call.attr("mean"), call.attr("variance")
    if mean is None or variance is None:
        raise RelayError(f"`{call.layer.name}` has neither been adapted nor given a mean and a variance")
    deviation = np.maximum(np.sqrt(call.array(variance)), 1e-7)
    x = relay.cast(call[0], call.dtype)
    if call.attr("invert", False):
        return relay.add(call.constant(call.array(mean)), relay.multiply(x, call.constant(deviation)))
    return relay.divide(relay.subtract(x, call.constant(call.array(mean))), call.constant(deviation))


@layer("CenterCrop")
def _center_crop(call: Call) -> Results:
    x, first, value = call.image()
    axes = (2, 3) if first else (1, 2)
    begins, ends = [], []
    for axis, wanted in zip(axes, (int(call.attr("height")), int(call.attr("width")))):
        extent = call.context.shape(x)[axis]
        if not isinstance(extent, int):
            raise DynamicShapeError(
                "CenterCrop requires that the size of the images is known at compile time"
            )
        if extent < wanted:
            raise RelayError(
                f"CenterCrop to {wanted} elements cannot be imported for an axis of {extent}, which Keras "
                "enlarges first"
            )
        begins.append((extent - wanted) // 2)
        ends.append((extent - wanted) // 2 + wanted)
    return value(relay.strided_slice(x, begins, ends, axes=list(axes)))


@layer("Resizing")
def _resizing(call: Call) -> Results:
    for option in ("crop_to_aspect_ratio", "pad_to_aspect_ratio", "antialias"):
        if call.attr(option, False):
            raise RelayError(f"Resizing with {option}=True cannot be imported")
    how = str(call.attr("interpolation"))
    if how not in ("bilinear", "nearest"):
        raise RelayError(f"Resizing with the interpolation {how!r} cannot be imported")
    x, first, value = call.image()
    size = (int(call.attr("height")), int(call.attr("width")))
    layout = "NCHW" if first else "NHWC"
    if how == "bilinear":
        return value(relay.image.resize2d(x, size, layout=layout, method="linear"))
    return value(
        relay.image.resize2d(
            x, size, layout=layout, method="nearest_neighbor", coordinate_transformation_mode="half_pixel",
            rounding_method="round_prefer_ceil",
        )
    )  # fmt: skip
