"""Operators whose result's shape the program computes. See `declaring` for the static counterparts."""
