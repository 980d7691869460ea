"""Quantize programs in three phases (annotate, calibrate, realize), by schemes that users can write.

The phases are those of the Relay paper (section 4).

from relay_explorer import relay

quantized = relay.quantize.quantize(mod, params, dataset=[{"data": image}, ...])
traced = relay.quantize.trace(mod, relay.quantize.schemes.PerChannelAsymmetric(), params, dataset)
traced.sites[0].parameters.scale
"""

from __future__ import annotations

from . import schemes
from .annotation import Annotated, Kept
from .calibrators import GlobalScale, KLDivergence, LeastSquares, MaxAbs, MinMax, Percentile, PowerOfTwo
from .config import QConfig, current_qconfig, qconfig
from .error_analysis import LineError, SiteError, line_errors, site_errors
from .following import as_input, follow, layer, left_alone
from .prepare import prerequisite_optimize
from .quantization import Quantization, quantize, trace
from .quantized import Quantized
from .quantizer import Parameters, Quantizer, Role, parameters, to_integers, to_reals
from .realization import Requantization
from .scheme import Annotation, Candidate, Keep, Observed, Operand, Peers, Scheme, Site, Use
from .schemes.tvm_symmetric.passes import annotate, calibrate, partition, realize
from .schemes.tvm_symmetric.registry import register_annotate_function, register_partition_function
from .statistics import Statistics

__all__ = [
    "Annotated", "Annotation", "Candidate", "GlobalScale", "KLDivergence", "Keep", "Kept", "LeastSquares",
    "LineError", "MaxAbs", "MinMax", "Observed", "Operand", "Parameters", "Peers", "Percentile",
    "PowerOfTwo", "QConfig", "Quantization", "Quantized", "Quantizer", "Requantization", "Role", "Scheme",
    "Site", "SiteError", "Statistics", "Use", "annotate", "as_input", "calibrate", "current_qconfig",
    "follow", "layer", "left_alone", "line_errors", "parameters", "partition", "prerequisite_optimize",
    "qconfig", "quantize", "realize", "register_annotate_function", "register_partition_function",
    "schemes", "site_errors", "to_integers", "to_reals", "trace",
]  # fmt: skip
