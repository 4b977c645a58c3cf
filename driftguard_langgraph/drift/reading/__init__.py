"""What a text says: its sentences, clauses, norms, numbers and rules."""
