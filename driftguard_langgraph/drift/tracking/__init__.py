"""Sessions of a chatbot: tracker, managed context, summaries and the file they live in."""
