"""The positions and weights of resizing, as ONNX defines them, computed when a model is imported."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any as Anything

from ...ir.errors import RelayError

Array = Anything  # numpy.ndarray
_LARGEST = 1 << 26  # elements of tables of indices and weights


@dataclass(frozen=True)
class Resampling:
    """How an axis is resized. `mode` is "nearest", "linear" or "cubic"."""

    mode: str = "nearest"
    coordinates: str = "half_pixel"
    nearest: str = "round_prefer_floor"
    cubic: float = -0.75
    exclude_outside: bool = False
    antialias: bool = False

    def indices(self, extent: int, count: int, scale: float, roi: tuple[float, float]) -> Array:
        """Return, for the mode "nearest", the index in the data of each element of the result."""
        import numpy as np

        at = self.positions(extent, count, scale, roi)
        if self.nearest == "round_prefer_floor":
            chosen = np.ceil(at - 0.5)
        elif self.nearest == "round_prefer_ceil":
            chosen = np.floor(at + 0.5)
        elif self.nearest == "floor":
            chosen = np.floor(at)
        elif self.nearest == "ceil":
            chosen = np.ceil(at)
        else:
            raise RelayError(f"nearest_mode is {self.nearest!r}, which ONNX does not define")
        return np.clip(chosen, 0, extent - 1).astype("int64")

    def positions(self, extent: int, count: int, scale: float, roi: tuple[float, float]) -> Array:
        """Return the positions in the data, of `extent` elements, of the `count` elements of the result."""
        import numpy as np

        i = np.arange(count, dtype="float64")
        mode = self.coordinates
        if mode == "half_pixel" or (mode == "pytorch_half_pixel" and count > 1):
            return (i + 0.5) / scale - 0.5
        if mode == "pytorch_half_pixel":
            return i * 0.0
        if mode == "half_pixel_symmetric":
            adjustment = count / (scale * extent)
            return extent / 2 * (1 - adjustment) + (i + 0.5) / scale - 0.5
        if mode == "align_corners":
            exact = scale * extent  # not rounded, as in ONNX's reference implementation
            return i * ((extent - 1) / (exact - 1)) if exact != 1 else i * 0.0
        if mode == "asymmetric":
            return i / scale
        if mode == "tf_half_pixel_for_nn":
            return (i + 0.5) / scale
        if mode == "tf_crop_and_resize":
            first, last = roi[0] * (extent - 1), roi[1] * (extent - 1)
            return first + i * ((last - first) / (count - 1)) if count > 1 else i + (first + last) / 2
        raise RelayError(f"coordinate_transformation_mode is {mode!r}, which ONNX does not define")

    def taps(self, extent: int, count: int, scale: float, roi: tuple[float, float]) -> tuple[Array, Array]:
        """Return the indices and the weights, of shape (count, taps), of the elements that are summed."""
        import numpy as np

        at = self.positions(extent, count, scale, roi)
        stretch = min(scale, 1.0) if self.antialias else 1.0
        reach = 1 if self.mode == "linear" else 2
        if count * reach / stretch > _LARGEST:
            raise RelayError(
                f"Resize with antialias=1 by a factor of {scale:.3g} to {count} elements cannot be "
                f"imported: its tables would exceed {_LARGEST:,} elements"
            )
        first = int(np.floor(-reach / stretch)) + 1
        offsets = np.arange(first, 2 - first)
        base = np.floor(at)
        distance = np.abs((offsets[None, :] - (at - base)[:, None]) * stretch)
        weights = np.clip(1 - distance, 0, None) if self.mode == "linear" else _cubic(distance, self.cubic)
        places = base[:, None].astype("int64") + offsets[None, :]
        if self.exclude_outside:
            weights = np.where((places < 0) | (places >= extent), 0.0, weights)
        if self.exclude_outside or self.antialias:
            weights = weights / weights.sum(1, keepdims=True)
        return np.clip(places, 0, extent - 1), weights

    def repeats(self, factor: int) -> bool:
        """Whether "nearest" with a whole factor repeats every element, on an axis of any extent."""
        import numpy as np

        if self.mode != "nearest" or self.coordinates in ("tf_crop_and_resize", "align_corners"):
            return False
        extent = 16
        sources = self.indices(extent, extent * factor, float(factor), (0.0, 1.0))
        return bool((sources == np.repeat(np.arange(extent), factor)).all())


def _cubic(distance: Array, a: float) -> Array:
    """Return the weights of Keys' cubic convolution at distances from the centre."""
    import numpy as np

    near = ((a + 2) * distance - (a + 3)) * distance**2 + 1
    far = a * (((distance - 5) * distance + 8) * distance - 4)
    return np.where(distance <= 1, near, np.where(distance < 2, far, 0.0))
