"""Shell: the commands and their flags (argv to settings)."""
