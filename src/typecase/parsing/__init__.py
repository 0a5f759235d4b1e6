"""What generated (or rendered) tokens mean: parsers without I/O."""
