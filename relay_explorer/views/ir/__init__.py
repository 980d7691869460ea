"""The program as text and graph."""

from __future__ import annotations
