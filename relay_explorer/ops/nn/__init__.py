"""Neural-network operators, one file per family. `relay.nn` collects their builders."""

from __future__ import annotations
