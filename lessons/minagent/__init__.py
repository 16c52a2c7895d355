"""A small agent runtime that survives crashes."""
