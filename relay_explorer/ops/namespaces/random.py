"""Builders of the operators in `relay.random`."""

from __future__ import annotations

from ..random import *
