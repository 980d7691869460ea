"""`tvm.topi` of the installed TVM."""

from __future__ import annotations

from . import forward

__getattr__ = forward("tvm.topi")
