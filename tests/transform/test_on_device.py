"""`on_device`: a mark that says where a value is computed, and its place in passes."""

from __future__ import annotations

import numpy as np
import pytest

from relay_explorer import relay
from relay_explorer.ir import Call, Function
from relay_explorer.ir.narrow import as_a
from relay_explorer.ir.virtual_device import VirtualDevice
from relay_explorer.ops.annotation import OnDeviceAttrs
from relay_explorer.transform import FoldConstant, InferType, Pass, Sequential, ToANormalForm

HEAD = '#[version = "0.0.5"]\n'


def after(passes: list[Pass], body: str) -> str:
    module = Sequential([InferType(), *passes, InferType()])(relay.parse(HEAD + body))
    return module.astext().removeprefix(HEAD)


def on(device: str, value: str) -> str:
    return f'on_device({value}, virtual_device="{device}", constrain_result=True)'


@pytest.mark.parametrize(
    ("text", "written", "number", "index", "scope"),
    [
        ("cuda", "cuda:0", 2, 0, ""),
        ("gpu:1", "cuda:1", 2, 1, ""),
        ("llvm", "cpu:0", 1, 0, ""),
        ("opencl:2/global.texture", "opencl:2/global.texture", 4, 2, "global.texture"),
        ("", "", -1, -1, ""),
    ],
)
def test_reads_devices(text: str, written: str, number: int, index: int, scope: str) -> None:
    device = VirtualDevice(text)
    assert (str(device), device.device_type_int, device.virtual_device_id) == (written, number, index)
    assert (device.memory_scope, device.target) == (scope, None)
    assert VirtualDevice.of(device) == device


@pytest.mark.parametrize("text", ["abacus", "cuda:x", "cuda:0/", ":1"])
def test_refuses_other_devices(text: str) -> None:
    with pytest.raises(ValueError, match="device"):
        relay.annotation.on_device(relay.var("x"), text)


def test_a_value_that_is_no_device() -> None:
    with pytest.raises(TypeError, match="not a value of type float"):
        relay.annotation.on_device(relay.var("x"), 1.5)


def test_a_free_annotation_names_no_device() -> None:
    call = relay.annotation.on_device(relay.var("x"), "cuda", constrain_body=False)
    assert str(call.attrs) == str(OnDeviceAttrs(constrain_body=False))
    demand = relay.annotation.on_device(relay.var("x"), "cuda").attrs
    assert str(demand) == str(OnDeviceAttrs(virtual_device="cuda:0"))


def test_survives_printing() -> None:
    module = relay.parse(f"{HEAD}def @main(%x: Tensor[(2), float32]) {{ {on('cuda:1', '%x')} }}")
    assert relay.parse(module.astext()).astext() == module.astext()
    body = as_a(Call, as_a(Function, module["main"]).body)
    assert as_a(OnDeviceAttrs, body.attrs).virtual_device.virtual_device_id == 1


def test_a_program_with_it_runs() -> None:
    x = relay.var("x", shape=(3,))
    main = relay.Function([x], relay.exp(relay.annotation.on_device(x + x, "cuda", constrain_result=True)))
    value = relay.create_executor("debug").evaluate(main)(np.zeros(3, "float32"))
    assert value.numpy().tolist() == [1, 1, 1]


def test_folds_constants_on_their_device() -> None:
    program = f"""def @main(%x: float32) {{
      let %two = {on("cpu:0", "2f")};
      let %four = {on("cpu:0", "add(%two, %two)")};
      multiply(%four, %x)
    }}"""
    assert after([FoldConstant()], program) == (
        "def @main(%x: float32) -> float32 {\n"
        f"  %0 = {on('cpu:0', '4f /* ty=float32 */')} /* ty=float32 */;\n"
        "  multiply(%0, %x) /* ty=float32 */\n"
        "}\n"
    )


def test_a_field_stays_on_the_device_of_its_tuple() -> None:
    program = f"def @main(%x: float32) {{ {on('cuda:0', '(exp(%x), %x)')}.0 }}"
    assert after([FoldConstant()], program) == (
        "def @main(%x: float32) -> float32 {\n"
        "  %0 = exp(%x) /* ty=float32 */;\n"
        f"  {on('cuda:0', '%0')} /* ty=float32 */\n"
        "}\n"
    )


def test_bindings_stay_on_the_device() -> None:
    program = f"def @main(%x: float32) {{ negative({on('cuda:0', 'exp(add(%x, 1f))')}) }}"
    assert after([ToANormalForm()], program) == (
        "def @main(%x: float32) -> float32 {\n"
        f"  let %x1: float32 = {on('cuda:0', '1f /* ty=float32 */')};\n"
        "  %0 = add(%x, %x1) /* ty=float32 */;\n"
        f"  let %x2: float32 = {on('cuda:0', '%0')};\n"
        "  %1 = exp(%x2) /* ty=float32 */;\n"
        f"  let %x3: float32 = {on('cuda:0', '%1')};\n"
        "  let %x4: float32 = negative(%x3);\n"
        "  %x4\n"
        "}\n"
    )


def test_an_annotated_variable_is_bound_as_it_is() -> None:
    program = f"def @main(%x: float32) {{ {on('cuda:0', '%x')} }}"
    assert f"let %x1: float32 = {on('cuda:0', '%x')}" in after([ToANormalForm()], program)


def test_a_shared_value_is_bound_once() -> None:
    program = f"def @main(%x: float32) {{ %0 = exp(%x); add(%0, {on('cuda:0', '%0')}) }}"
    assert after([ToANormalForm()], program).count("exp") == 1
