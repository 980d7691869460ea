"""`tvm.error`: the errors that old code catches."""

from __future__ import annotations

from ...ir.errors import ParseError, RelayError, TypeInferenceError

TVMError = DiagnosticError = RelayError

__all__ = ["DiagnosticError", "ParseError", "RelayError", "TVMError", "TypeInferenceError"]
