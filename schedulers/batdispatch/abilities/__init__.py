"""One folder an ability; see `batdispatch.core.abilities`."""
