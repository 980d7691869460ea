"""Operators for object detection, by family: anchors, suppression of overlaps, regions of interest."""
