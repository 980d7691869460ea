"""Suggest how to improve a scheme that loses too much accuracy."""

from __future__ import annotations

from collections.abc import Sequence

from ...ir.errors import RelayError
from ...quantize import Role, Site
from . import Quantized


def error_hint(error: RelayError) -> str:
    """Return what an error of the quantization means for a scheme."""
    if "no calibrator" in error.message:
        return (
            "A calibrator is a function of the statistics and the quantizer, which returns `parameters(…)`."
        )
    return ""


def sentences(parts: Sequence[str]) -> str:
    """Write suggestions as sentences, one after the other."""
    return " ".join([f"{part[0].upper()}{part[1:].rstrip('.')}." for part in parts if part])


def axis_hint(result: Quantized) -> str:
    """Return what is wrong with the axis of a weight's scales, if layers stay in float because of it."""
    for site in result.trace.sites:
        if site.quantizer.role is Role.WEIGHT and site.quantizer.axis not in (None, 0):
            return (
                f"The scales of a weight lie along axis {site.quantizer.axis}, so a sum would mix numbers of "
                "different scales. The output channels lie along axis 0: `Quantizer(Role.WEIGHT, 3, axis=0)`."
            )
    return ""


def accuracy_hint(result: Quantized) -> str:
    """Return what to try first, by what the scheme has chosen."""
    weights = [site for site in result.trace.sites if site.quantizer.role is Role.WEIGHT]
    if any(_one_scale(site) for site in weights):
        return (
            "A weight has one scale for all output channels. With 3 bits, all elements of a channel with "
            "small weights round to 0: give each channel a scale, `Quantizer(Role.WEIGHT, 3, axis=0, …)`."
        )
    if any(_up_to_maximum(site) for site in weights):
        return (
            "The range of a weight extends to its largest element, so nothing is clipped. With so few "
            "levels, the steps are too wide for the others. Choose a smaller threshold: try several, and "
            "take the one with the least square error between the weight and its rounded and clipped "
            "version."
        )
    if not any(product.in_float for product in result.products):
        return (
            "One layer may stay in floating point, but your scheme quantizes all of them. Return `Keep(…)` "
            "for one value of `candidate.layer`."
        )
    return (
        "Compare the layers: `relay_explorer.quantize.error_analysis.line_errors` shows where the SQNR "
        "drops. Try another layer in floating point, an asymmetric quantizer for data that is never "
        "negative, and other thresholds."
    )


def _one_scale(site: Site) -> bool:
    return site.parameters is not None and not site.parameters.scale.ndim


def _up_to_maximum(site: Site) -> bool:
    """Whether nothing of a weight is clipped."""
    import numpy as np

    if site.parameters is None or site.statistics is None:
        return False
    reach, greatest = (
        np.abs(site.parameters.high),
        np.maximum(np.abs(site.statistics.low), np.abs(site.statistics.high)),
    )
    return bool((reach >= 0.97 * greatest).mean() > 0.8)
