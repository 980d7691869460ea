"""Builders of the operators in `relay.vision`."""

from __future__ import annotations

from ..vision.multibox import *
from ..vision.nms import *
from ..vision.nms_by_class import *
from ..vision.proposal import *
from ..vision.roi import *
