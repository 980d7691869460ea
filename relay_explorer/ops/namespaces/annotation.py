"""Builders of the operators in `relay.annotation`."""

from __future__ import annotations

from ..annotation import *
from ..simulated_quantize import *
