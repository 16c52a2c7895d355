"""The package behind every check."""
