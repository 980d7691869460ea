"""In the book, a term in an explorer's sentence leads to the glossary. Elsewhere there is none."""

from __future__ import annotations

import json

import pytest
from playwright.sync_api import expect

from tests.browser.explorers import press
from tests.browser.pages import Opener
from tests.browser.test_fusion import view_of

pytestmark = pytest.mark.browser

TERMS = {
    "page": "book/glossary.html",
    "terms": {"kernel": "term-kernel", "post-dominator": "term-pd", "IR": "x"},
}


def test_terms_in_sentences_are_links_where_a_glossary_is(open_view: Opener) -> None:
    page = open_view(view_of("diamond"))
    expect(page.locator(".say a.term")).to_have_count(0)
    page.evaluate(f"globalThis.relayTerms = {json.dumps(TERMS)}")
    page.evaluate("document.documentElement.dataset.content_root = '../'")
    press(page, "Home")
    links = page.locator(".say a.term")
    expect(links.first).to_be_visible()
    addresses = [link.get_attribute("href") for link in links.all()]
    assert addresses == list(dict.fromkeys(addresses))  # each once in a sentence
    assert set(addresses) <= {"../book/glossary.html#term-kernel", "../book/glossary.html#term-pd"}
    # The words of the sentence are what they were.
    assert "[object" not in page.locator(".say").inner_text()
