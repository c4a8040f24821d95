"""The guest of a shop answers for itself, against real servers."""
