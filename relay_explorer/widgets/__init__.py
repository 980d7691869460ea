"""One notebook widget and one static page for every view."""

from __future__ import annotations
