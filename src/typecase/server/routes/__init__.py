"""One file per group of routes: decode, call the model, encode."""
