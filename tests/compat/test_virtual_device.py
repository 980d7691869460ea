"""`tvm.target.VirtualDevice` and the library `core.rly`: old code has them at the top of its files."""

from __future__ import annotations

from typing import Any

from relay_explorer import relay as relay_
from relay_explorer.compat import tvm as tvm_

relay: Any = relay_
tvm: Any = tvm_


def test_a_virtual_device_is_kept() -> None:
    place = tvm.target.VirtualDevice(tvm.cuda(1), tvm.target.Target("cuda"), "shared")
    assert (place.device_type, place.virtual_device_id, place.memory_scope) == (2, 1, "shared")
    assert place == tvm.target.VirtualDevice(tvm.cuda(1), tvm.target.Target("cuda"), "shared")
    assert place != tvm.target.VirtualDevice(tvm.cpu(), tvm.target.Target("llvm"))
    assert tvm.target.VirtualDevice().device_type == -1
    assert len({place, tvm.target.VirtualDevice(tvm.cuda(1), tvm.target.Target("cuda"), "shared")}) == 1


def test_core_declares_storage() -> None:
    module = tvm.IRModule()
    module.import_from_std("core.rly")
    assert [var.name_hint for var in module.get_global_type_vars()] == ["Storage"]


def test_an_expression_remembers_its_device() -> None:
    x = relay.var("x", shape=(2,))
    assert x.virtual_device_ == ""
    x.virtual_device_ = tvm.cuda(1)
    assert x.virtual_device_ == tvm.cuda(1)
    call = tvm.relay.annotation.on_device(x, tvm.target.VirtualDevice(tvm.cuda(1), None, "texture"))
    assert call.attrs.virtual_device == "cuda:1/texture"
