"""From a notebook to a verdict."""
