"""ONNX files in the playground: read in the page, explored, edited, and refused where they are none."""

from __future__ import annotations

import base64
from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import FilePayload, Page, expect

from tests.browser.playground_page import FIRST, Visit
from tests.playground import models

pytestmark = [pytest.mark.browser, pytest.mark.slow]


def choose(page: Page, name: str, content: bytes) -> None:
    """Choose a file, as the button `Open` does."""
    file = FilePayload(name=name, mimeType="application/octet-stream", buffer=content)
    page.locator('.head input[type="file"]').set_input_files(file)


def drop(page: Page, name: str, content: bytes) -> None:
    """Drop a file on the editor."""
    data = page.evaluate_handle(
        """([name, text]) => {
          const bytes = Uint8Array.from(atob(text), (c) => c.charCodeAt(0));
          const data = new DataTransfer();
          data.items.add(new File([bytes], name));
          return data;
        }""",
        [name, base64.b64encode(content).decode()],
    )
    page.locator(".cm-content").dispatch_event("drop", {"dataTransfer": data})


def test_a_dropped_model_is_imported_and_its_nodes_are_shown(visit: Callable[..., Visit]) -> None:
    """On a phone, in the dark, before Python was loaded: dropping the file starts it."""
    seen = visit(390, 844, "dark")
    page = seen.page
    drop(page, "layers.onnx", models.layers())
    page.get_by_role("tab", name="Explorer").click()
    seen.explorer("types")
    expect(page.locator(".picture")).to_contain_text("nn.dense")
    page.get_by_label("View").select_option("source")
    seen.explorer("source")
    expect(page.locator(".picture")).to_contain_text("Gemm")
    expect(page.locator(".picture")).to_contain_text("layers")
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    page.get_by_role("tab", name="Program").click()
    expect(page.locator(".cm-content")).to_contain_text("%fc1.weight: Tensor[(32, 4), float32]")


def test_a_resnet_is_explored_and_its_program_edited(running: Visit, tmp_path: Path) -> None:
    page = running.page
    file = tmp_path / "resnet18.onnx"
    file.write_bytes(models.resnet18())  # 47 MB
    page.locator('.head input[type="file"]').set_input_files(file)
    expect(page.locator(".cm-content")).to_contain_text("%layer1.0.conv1.weight", timeout=FIRST)
    for view in ("types", "fusion", "ir", "source", "costs", "memory", "pipeline"):
        page.get_by_label("View").select_option(view)
        running.explorer(view)
        expect(page.locator(".problem")).to_have_count(0)
    page.get_by_label("View").select_option("source")
    running.explorer("source")
    # An edit: the text no longer stands for the model, so its nodes are unknown, until the edit is undone.
    page.locator(".cm-content").click()
    page.keyboard.press("Control+Home")
    page.keyboard.insert_text("// mine\n")
    expect(page.locator(".problem")).to_contain_text("undo it or open the file again")
    page.keyboard.press("Control+z")
    expect(page.locator(".problem")).to_have_count(0)
    expect(page.locator(".picture-host.is-stale")).to_have_count(0)
    page.get_by_label("View").select_option("types")
    running.explorer("types")


def test_a_worker_that_starts_again_gets_the_model_again(running: Visit) -> None:
    page = running.page
    choose(page, "layers.onnx", models.layers())
    expect(page.locator(".cm-content")).to_contain_text("layers.onnx", timeout=FIRST)
    page.get_by_label("View").select_option("source")
    running.explorer("source")
    lines = "".join(f"let %x{i + 1} = exp(%x{i});" for i in range(20_000))
    running.write(f"def @main(%x0: float32) {{ {lines} %x20000 }}")
    page.get_by_role("button", name="Stop").click()
    expect(page.locator(".problem")).to_contain_text("Stopped")
    page.locator(".cm-content").click()
    page.keyboard.press("Control+z")
    expect(page.locator(".cm-content")).to_contain_text("layers.onnx", timeout=FIRST)
    page.get_by_role("button", name="Run").click()
    expect(page.locator('[data-status="ready"]')).to_be_visible(timeout=FIRST)
    expect(page.locator(".problem")).to_have_count(0)
    expect(page.locator(".picture")).to_contain_text("Gemm")
    page.get_by_label("View").select_option("types")


def test_a_transformer_block_is_run_with_its_weights(running: Visit) -> None:
    page = running.page
    choose(page, "attention.onnx", models.attention())
    expect(page.locator(".cm-content")).to_contain_text("%attention.q.weight", timeout=FIRST)
    page.get_by_label("View").select_option("evaluation")
    running.explorer("evaluation")
    expect(page.locator(".problem")).to_have_count(0)
    page.get_by_label("View").select_option("types")
    running.explorer("types")


def test_hostile_files_change_nothing(running: Visit) -> None:
    page = running.page
    running.write("def @main(%mine: float32) { %mine }")
    expect(page.locator(".picture")).to_contain_text("%mine")
    for number, (name, (content, message)) in enumerate(models.hostile().items()):
        choose(page, f'<img src=x onerror="hacked=1">{name}.onnx', content)
        if message:
            expect(page.locator(".problem .message")).to_contain_text(message, timeout=FIRST)
            expect(page.locator(".cm-content")).to_contain_text("%mine")
            expect(page.locator(".picture-host.is-stale")).to_have_count(0)
        else:
            expect(page.locator(".cm-content")).to_contain_text(f"{name}.onnx", timeout=FIRST)
            expect(page.locator('[data-status="ready"]')).to_be_visible()
        running.write(f"def @main(%mine: Tensor[({number}), float32]) {{ %mine }}")
        expect(page.locator(".problem")).to_have_count(0)
        expect(page.locator(".picture-host.is-stale")).to_have_count(0)
        expect(page.locator(".picture")).to_contain_text("%mine")
    assert page.evaluate("window.hacked") is None


def test_a_file_that_is_too_large_is_not_read(running: Visit) -> None:
    page = running.page
    page.evaluate("relayPlaygroundDescription.largest_model = 1000")
    choose(page, "large.onnx", models.layers())
    expect(page.locator(".problem")).to_contain_text("the page reads at most 1,000")
    page.evaluate("relayPlaygroundDescription.largest_model = 256_000_000")


def test_an_explorer_of_a_model_opens_its_program_with_parameters(visit: Callable[..., Visit]) -> None:
    seen = visit(path="/book/model.html")
    page = seen.page
    page.get_by_role("button", name="edit this program").click()
    seen.explorer("fusion")
    expect(page.locator(".cm-content")).to_contain_text("%fc1.weight: Tensor[(32, 4), float32]")
    expect(page.locator(".problem")).to_have_count(0)
