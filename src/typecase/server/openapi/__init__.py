"""How the API describes itself: ``/openapi.json`` from the request and answer types, and a page to read it."""
