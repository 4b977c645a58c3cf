"""What all doors into LangGraph and LangChain share about their host."""
