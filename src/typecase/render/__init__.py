"""``Front`` and request in, ``GenerateRequest`` out."""
