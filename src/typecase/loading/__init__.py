"""Shell: a directory, hub id or GGUF file is read into named bytes and becomes a ``Front``."""
