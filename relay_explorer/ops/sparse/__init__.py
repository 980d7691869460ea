"""Operators on sparse tensors, stored as the elements that differ from a default and their coordinates. The
coordinates are the rows of a matrix: (number of elements, rank of the tensor).
"""
