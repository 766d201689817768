"""A comparison as people and programs see it: terminal, JSON, a page."""
