"""Neural-network operators, one file a family. `relay.nn` gathers their builders."""

from __future__ import annotations
