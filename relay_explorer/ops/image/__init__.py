"""The operators on images, of `relay.image`."""
