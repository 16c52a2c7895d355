"""How long the crash explorer takes: ``python -m benchmarks``."""
