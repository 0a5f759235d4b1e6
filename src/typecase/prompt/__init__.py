"""Conversation to prompt: normalisation, content format, the Jinja environment."""
