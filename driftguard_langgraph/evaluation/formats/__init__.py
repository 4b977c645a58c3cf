"""The shapes of recorded runs that can be read, one module each."""
