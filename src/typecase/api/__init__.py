"""The wire: one file per API with its msgspec structs, and the errors. Imports nothing else of typecase."""
