"""Pack small unsigned integers into the bits of larger ones: the first of a row is in the lowest bits of the
row's first element.
"""

from __future__ import annotations

from ...ir.errors import RelayError
from ..numeric import Array, np

BITS = (1, 2, 4, 8)  # the widths of which several fill a byte


def pack(values: Array, bits: int) -> Array:
    """Pack unsigned integers along the last axis: an array (…, k) of integers below 2ᵇⁱᵗˢ becomes uint8
    (…, ⌈k · bits / 8⌉). Missing weights of the last byte are 0. Raise a RelayError for integers that do not
    fit.
    """
    if bits not in BITS:
        raise RelayError(f"weights of {bits} bits do not fill bytes", help=["use 1, 2, 4 or 8 bits"])
    if values.size and not (values.min() >= 0 and values.max() < 1 << bits):
        raise RelayError(
            f"unsigned integers of {bits} bits lie from 0 to {(1 << bits) - 1}, but these lie from "
            f"{values.min()} to {values.max()}",
            help=["add the zero point before packing, and clip"],
        )
    per = 8 // bits
    padding = [(0, 0)] * (values.ndim - 1) + [(0, -values.shape[-1] % per)]
    whole = np.pad(values.astype("uint8"), padding)
    parts = whole.reshape(*whole.shape[:-1], whole.shape[-1] // per, per)
    shifted = parts << (np.arange(per) * bits).astype("uint8")
    return np.bitwise_or.reduce(shifted.astype("uint8"), axis=-1)


def unpack(packed: Array, bits: int, count: int) -> Array:
    """Unpack the first `count` unsigned integers of each row of a packed array, as uint8. The elements of the
    array may be of any integer type.
    """
    width = packed.dtype.itemsize * 8
    words = packed.astype(f"uint{width}")[..., None]
    shifts = (np.arange(width // bits) * bits).astype(words.dtype)
    values = ((words >> shifts) & words.dtype.type((1 << bits) - 1)).astype("uint8")
    return values.reshape(*packed.shape[:-1], packed.shape[-1] * (width // bits))[..., :count]
