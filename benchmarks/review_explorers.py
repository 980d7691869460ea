"""Measure again what a review of the explorers found: its faults, what fits, sizes and speed, what held.

python -m benchmarks.review_explorers                    writes the table to review_explorers.md
python -m benchmarks.review_explorers --only B1 play     prints these rows only
"""

from __future__ import annotations

import argparse
import os
import sys
import time

from playwright.sync_api import sync_playwright

from benchmarks import review_faults, review_sizes
from benchmarks.common import report, table
from benchmarks.review_pages import ROWS, Pages
from tests.browser.pages import ARGUMENTS, CHROMIUM

HEADINGS = ["", "then", "now", "how"]
__all__ = ["review_faults", "review_sizes"]  # importing them registers the rows


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--only", nargs="+", choices=[row.name for row in ROWS], help="these rows")
    only = parser.parse_args().only
    load, rows = os.getloadavg()[0], []
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=ARGUMENTS)
        pages = Pages(browser)
        for row in ROWS:
            if only and row.name not in only:
                continue
            start = time.perf_counter()
            try:
                now = row.measure(pages)
            except Exception as error:  # a row that cannot be measured must not hide the others
                now = f"not measured: {type(error).__name__}: {str(error).splitlines()[0]}"
            rows.append([row.name, row.then, now, row.how])
            print(f"{row.name}: {now} ({time.perf_counter() - start:.0f} s)", file=sys.stderr, flush=True)
        version = browser.version
        browser.close()
    if only:
        print(table(HEADINGS, rows))
    else:
        tail = f"\nChromium {version}. Load average at the start: {load:.1f}.\n"
        report("review_explorers.md", table(HEADINGS, rows), tail)


if __name__ == "__main__":
    main()
