"""What a learner does beside answering: begin, see how far they are, get a hint, start again, keep notes, compare."""
