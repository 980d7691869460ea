"""Operators whose result's shape the program computes; `declaring` says how they relate to static ones."""
