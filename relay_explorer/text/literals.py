"""Parse and print literals of numbers and strings. A printed literal parses to the same bits."""

from __future__ import annotations

import math
import re

from ..ir.ndarray import NDArray

_NUMBER = re.compile(r"(\d+)(\.\d+)?([eE][+-]?\d+)?([A-Za-z_]\w*)?", re.ASCII)
SUFFIXES = {
    "f": "float32", "f16": "float16", "f32": "float32", "f64": "float64", "bf16": "bfloat16",
    "i": "int32", "i8": "int8", "i16": "int16", "i32": "int32", "i64": "int64",
    "u8": "uint8", "u16": "uint16", "u32": "uint32", "u64": "uint64",
}  # fmt: skip
_WRITTEN = {"float32": "f", "int32": ""} | {
    d: s
    for s, d in SUFFIXES.items()
    if d not in ("float32", "int32")  # the suffix `i` is never printed
}
# Infinities and NaN, as the C++ printer wrote them: the C library's word, then the suffix.
SPECIAL = {
    f"{word}{suffix}": (word, dtype)
    for word in ("inf", "nan")
    for suffix, dtype in SUFFIXES.items()
    if "f" in suffix
}
_LARGEST = {"float16": 65504.0, "bfloat16": 3.3895313892515355e38, "float32": 3.4028234663852886e38}
MAX_NUMBER_LENGTH = 400  # in characters


def number(text: str, negative: bool = False) -> tuple[int | float, str]:
    """Return the value and element type of a literal such as `1`, `2i64`, `0.5f`, `inff`. A whole number is
    an int32, or an int64 where it does not fit one.

    Raise a ValueError with a readable message for any other text.
    """
    if text in SPECIAL:
        word, dtype = SPECIAL[text]
        return (-float(word) if negative else float(word)), dtype
    parts = _NUMBER.fullmatch(text) if len(text) <= MAX_NUMBER_LENGTH else None
    if parts is None:
        raise ValueError(
            "is not a number"
            if len(text) <= MAX_NUMBER_LENGTH
            else f"has more than {MAX_NUMBER_LENGTH} characters"
        )
    whole, fraction, exponent, suffix = parts.groups()
    real = bool(fraction or exponent)
    dtype = SUFFIXES.get(suffix, "") if suffix else "float32" if real else "int32"
    if not dtype:
        raise ValueError(f"has the unknown suffix `{suffix}`; supported are {', '.join(SUFFIXES)}")
    if "f" in dtype:
        value = float(whole + (fraction or "") + (exponent or ""))
        if math.isinf(value):
            raise ValueError(f"does not fit {dtype}")
        return (-value if negative else value), dtype
    if real:
        raise ValueError(f"has a fraction, which {dtype} cannot hold")
    value = -int(whole) if negative else int(whole)
    return value, dtype if suffix or -(2**31) <= value < 2**31 else "int64"


def scalar(text: str, negative: bool = False) -> NDArray:
    """Return the constant that a literal denotes.

    Raise a ValueError with a readable message for any other text, and for a number too large for its type.
    """
    value, dtype = number(text, negative)
    if (
        _LARGEST.get(dtype, math.inf) < abs(value) < math.inf
    ):  # otherwise it would be rounded to the largest value of the type
        raise ValueError(f"does not fit {dtype}")
    try:
        return NDArray.scalar(value, dtype)
    except (ValueError, OverflowError):
        raise ValueError(f"does not fit {dtype}") from None


def scalar_text(data: NDArray) -> str | None:
    """Return the literal of a scalar; None where no literal represents it exactly."""
    if data.shape or (data.dtype != "bool" and data.dtype not in _WRITTEN):
        return None
    value = data.item()
    if data.dtype == "bool":
        return ("False", "True")[value] if data.data in (b"\0", b"\1") else None  # type: ignore[index]  # a bool
    negative = math.copysign(1.0, value) < 0
    digits = float_digits(abs(value), data) if "f" in data.dtype else str(abs(value))
    text = digits + (_WRITTEN[data.dtype])
    try:
        exact = scalar(text, negative).data == data.data
    except ValueError:
        exact = False
    return ("-" if negative else "") + text if exact else None


def float_digits(value: float, data: NDArray) -> str:
    """Return the fewest digits, but at least six as in C++, that parse to the same element of `data`'s
    type.
    """
    if not math.isfinite(value):
        return "inf" if math.isinf(value) else "nan"
    for precision in range(6, 18):
        digits = f"{value:.{precision}g}"
        try:
            if scalar(digits + _WRITTEN[data.dtype]).item() == value:
                return digits
        except ValueError:
            continue
    return repr(value)


def attribute_float(value: float) -> str:
    """Print a float attribute: `1e-05f`. The digits are those of the double."""
    if not math.isfinite(value):
        return ("-" if math.copysign(1.0, value) < 0 else "") + ("inff" if math.isinf(value) else "nanf")
    short = f"{value:.6g}"
    return (
        short
        if float(short) == value and math.copysign(1.0, float(short)) == math.copysign(1.0, value)
        else repr(value)
    ) + "f"


_ESCAPE = re.compile(r"\\(?:x([0-9a-fA-F]{2})|u([0-9a-fA-F]{4})|U([0-9a-fA-F]{8})|(.))", re.DOTALL)
_PLAIN = {
    "n": "\n",
    "t": "\t",
    "r": "\r",
    "0": "\0",
    '"': '"',
    "'": "'",
    "`": "`",
    "\\": "\\",
    "/": "/",
    "b": "\b",
    "f": "\f",
    "a": "\a",
    "v": "\v",
}


def unquote(text: str) -> str:
    """Return the text between the quotes of a literal, with escapes replaced. Raise a ValueError with a
    readable message for an unknown escape.
    """

    def replace(escape: re.Match[str]) -> str:
        code = escape[1] or escape[2] or escape[3]
        if code:
            if int(code, 16) > 0x10FFFF:
                raise ValueError(f"`\\U{code}` is not a character")
            return chr(int(code, 16))
        if escape[4] not in _PLAIN:
            raise ValueError(f'`\\{escape[4]}` is not an escape: use \\n \\t \\r \\" \\\\ \\xHH \\uHHHH')
        return _PLAIN[escape[4]]

    body = text[1:-1]
    return _ESCAPE.sub(replace, body) if "\\" in body else body


def quote(text: str, mark: str = '"') -> str:
    """Quote `text`, escaping characters that are not printable."""
    return mark + "".join([_escape(c, mark) for c in text]) + mark


def _escape(char: str, mark: str) -> str:
    if char in (mark, "\\"):
        return "\\" + char
    if char.isprintable():
        return char
    code = ord(char)
    return {"\n": "\\n", "\t": "\\t", "\r": "\\r"}.get(char) or (
        f"\\u{code:04x}" if code <= 0xFFFF else f"\\U{code:08x}"
    )
