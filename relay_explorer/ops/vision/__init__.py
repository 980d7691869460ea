"""Operators that detect objects, one file a family: anchors, suppression of overlaps, regions of interest."""
