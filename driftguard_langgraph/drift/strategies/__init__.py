"""Ways to measure how far a turn serves the purpose of its session."""
