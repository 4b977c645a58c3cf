"""The checks of the conformance suite, a class for each theme."""
