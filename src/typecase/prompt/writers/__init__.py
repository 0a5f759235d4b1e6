"""Writers: conversations as text or ids, for families that vLLM doesn't render with a Jinja template."""
