"""Helpers that several passes share: typed rewriting, inlining, fresh variables, expected types."""

from __future__ import annotations
