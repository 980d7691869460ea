"""Conversions between normal forms: A-normal form, basic-block form, graph form, and trees."""

from __future__ import annotations
