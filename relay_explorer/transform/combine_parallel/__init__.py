"""Combine parallel calls of one operator into a single, wider call."""

from __future__ import annotations
