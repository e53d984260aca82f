"""Memory for LLM agents that keeps the source."""

from firsthand.memory import Memory, Session

__all__ = ["Memory", "Session"]
