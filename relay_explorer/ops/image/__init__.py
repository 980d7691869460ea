"""Operators on images, in the namespace `relay.image`."""
