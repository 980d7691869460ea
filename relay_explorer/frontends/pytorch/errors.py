"""The errors of the TorchScript importer that are no faults of the model."""

from __future__ import annotations

from ...ir.errors import RelayError


class ProgramRaisesError(RelayError):
    """The imported code raises an exception for the given inputs."""


class UnsupportedError(Exception):
    """A node has no converter. The importer then looks for all of them and raises one error."""
