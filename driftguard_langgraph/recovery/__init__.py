"""Recovery: what brings a drifted session back to what it was told, and whether it did."""
