"""One module for each exercise: how its criteria are judged."""
