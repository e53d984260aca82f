"""Memory for LLM agents that keeps the source."""
