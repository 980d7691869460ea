"""Gradient rules that the declarations of operators name, one file a family (`ir.declaration.Gradient`)."""

from __future__ import annotations
