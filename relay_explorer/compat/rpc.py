"""`tvm.rpc`: a session on this machine. Programs are not sent to other machines."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

from ..ir.errors import RelayError
from .devices import Device, cpu, cuda, device
from .folders import tempdir
from .libraries import load_module


class LocalSession:
    """Offers the interface of a connection to another machine, for this machine: uploading copies a file to a
    folder, and modules are loaded from there.
    """

    def __init__(self) -> None:
        self._folder = tempdir()

    def upload(self, data: Any, target: str | None = None) -> None:
        """Copy a file, or bytes under the name `target`, to the session's folder."""
        name = Path(target or str(data)).name
        if isinstance(data, (bytes, bytearray)):
            if target is None:
                raise ValueError("bytes are uploaded under a name: give `target`")
            Path(self._folder.relpath(name)).write_bytes(data)
        else:
            shutil.copyfile(str(data), self._folder.relpath(name))

    def download(self, path: str) -> bytes:
        """Return the contents of a file in the session's folder."""
        return Path(self._folder.relpath(Path(path).name)).read_bytes()

    def remove(self, path: str) -> None:
        """Delete a file of the session's folder."""
        Path(self._folder.relpath(Path(path).name)).unlink(missing_ok=True)

    def load_module(self, path: str) -> Any:
        """Load a program that was uploaded. It contains machine code: load only files that you trust."""
        return load_module(self._folder.relpath(Path(path).name))

    def get_function(self, name: str) -> Any:
        """Return a registered function."""
        from .nodes import get_global_func

        return get_global_func(name)

    def device(self, dev_type: str | int, dev_id: int = 0) -> Device:
        return device(dev_type, dev_id)

    context = device

    def cpu(self, dev_id: int = 0) -> Device:
        return cpu(dev_id)

    def cuda(self, dev_id: int = 0) -> Device:
        return cuda(dev_id)

    gpu = cuda


def _refuse(what: str) -> RelayError:
    return RelayError(
        f"{what} is not available: relay_explorer runs programs only on its own machine",
        help=[
            "rpc.LocalSession() runs them here, with the same interface",
            "for another machine, build with executor='aot' and a target, and copy the library there: "
            "relay_explorer.build(mod, target, executor='aot').save('model.so')",
        ],
    )


def connect(url: str, port: int, key: str = "", session_timeout: int = 0, **options: Any) -> LocalSession:
    """Refuse to connect to another machine."""
    raise _refuse(f"a connection to {url}:{port}")


def connect_tracker(url: str, port: int) -> Any:
    """Refuse to connect to a tracker of machines."""
    raise _refuse(f"the tracker at {url}:{port}")


class Server:
    """Refuses to serve other machines."""

    def __init__(self, *args: Any, **options: Any) -> None:
        raise _refuse("an RPC server")


class Tracker:
    """Refuses to track other machines."""

    def __init__(self, *args: Any, **options: Any) -> None:
        raise _refuse("an RPC tracker")


RPCSession = LocalSession

__all__ = ["LocalSession", "RPCSession", "Server", "Tracker", "connect", "connect_tracker"]
