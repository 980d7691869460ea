"""The playground: answers a reader's requests about a program, in the page itself (through Pyodide).

`Session.answer` takes a request as JSON text and returns the answer as JSON text. It needs neither NumPy nor
a browser: `tools/playground.py` puts this package beside Pyodide, and the worker of
`frontend/src/playground/` calls it.
"""

from __future__ import annotations
