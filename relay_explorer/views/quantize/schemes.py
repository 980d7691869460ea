"""The quantization schemes by their names, for the command line and for `explore(…, scheme="ternary")`."""

from __future__ import annotations

from difflib import get_close_matches

from ...ir.errors import RelayError
from ...quantize import Scheme, schemes


def scheme_names() -> dict[str, type[Scheme]]:
    """Return the schemes of the package, by name."""
    classes = [getattr(schemes, name) for name in schemes.__all__]
    return {cls.name: cls for cls in classes}


def scheme_named(scheme: Scheme | str | None) -> Scheme:
    """Return a scheme: itself, or the one of this name; by default per channel and asymmetric. Raise a
    RelayError for an unknown name.
    """
    if scheme is None:
        return schemes.PerChannelAsymmetric()
    if not isinstance(scheme, str):
        return scheme
    names = scheme_names()
    if scheme not in names:
        near = get_close_matches(scheme, names, 1)
        raise RelayError(
            f"there is no scheme called {scheme!r:.60}",
            help=[f"did you mean {near[0]!r}?" if near else f"the schemes are {', '.join(names)}"],
        )
    return names[scheme]()
