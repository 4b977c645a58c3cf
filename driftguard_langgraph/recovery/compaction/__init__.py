"""The compaction guard: what a summary lost of rules and facts, and its restoration."""
