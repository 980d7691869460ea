"""Builders of the operators in `relay.image`."""

from __future__ import annotations

from ..image import *
from ..morphology import *
