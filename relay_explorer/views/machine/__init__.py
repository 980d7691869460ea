"""A recorded run of the virtual machine, instruction by instruction."""

from __future__ import annotations
