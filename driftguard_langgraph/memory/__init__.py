"""What is remembered: the graph view, merging, retrieval, pruning, and the stores."""
