"""The lexical fingerprint of a session: eight features, their distances, four signatures."""
