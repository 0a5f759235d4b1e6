"""Shell: HTTP. Routes are thin; what a request means is decided in ``render``."""
