"""What a note means to do to the rules, in whatever words: by examples and their vectors."""
