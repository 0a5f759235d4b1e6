"""Encode and decode: tokenizer backends, special tokens."""
