"""Output formats as data: how a family writes reasoning and tool calls, and the registry of their names."""
