"""The local server: a page on this machine that opens programs and models, and follows their files.

    serve([Path("model.onnx")])

It listens on 127.0.0.1 only. Its address contains a random token, without which every request is refused, so
that other users of the machine and pages of other sites cannot use it. Nothing is sent anywhere.
"""

from __future__ import annotations

import signal
import sys
import tempfile
import threading
from collections.abc import Callable, Sequence
from pathlib import Path
from types import FrameType

from .documents import Documents
from .http import Server
from .work import LIMIT_SECONDS, Work

__all__ = ["serve"]


def serve(
    paths: Sequence[Path],
    port: int = 0,
    opened: Callable[[str], object] | None = None,
    seconds: float = LIMIT_SECONDS,
    memory: int = 0,
) -> int:
    """Serve the page until Ctrl-C, and return the exit status 0.

    `paths` are files, and folders whose models are listed. `port` 0 is a free one. `opened` is called with
    the address, once the server listens. A view may take so many `seconds`, and so many bytes of `memory`
    (0: as many as the machine has). Raise an OSError for a port that is taken.
    """
    with tempfile.TemporaryDirectory(prefix="relay-explorer-", ignore_cleanup_errors=True) as folder:
        documents = Documents(Path(folder))
        for path in paths:
            documents.add(path)
        work = Work(Path(folder), seconds, memory)
        with Server(documents, work, port) as server:
            _stop_on_termination()
            watcher = threading.Thread(target=server.watch, daemon=True)
            watcher.start()
            try:
                print(f"{server.address}\nCtrl-C stops the server.", flush=True)
                if opened is not None:
                    opened(server.address)
                server.serve_forever(poll_interval=0.2)
            except KeyboardInterrupt:
                print("stopped", file=sys.stderr)
            finally:
                server.stop()
    return 0


def _stop_on_termination() -> None:
    """End on SIGTERM as on Ctrl-C, so that the temporary folder is deleted."""

    def stop(number: int, frame: FrameType | None) -> None:
        raise KeyboardInterrupt

    if threading.current_thread() is threading.main_thread():
        signal.signal(signal.SIGTERM, stop)
