"""Builders of the operators in `relay.image`."""

from __future__ import annotations

from ..image.crop_and_resize import *
from ..image.grid import *
from ..image.morphology import *
from ..image.resize import *
