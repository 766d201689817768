"""What experiments that put questions have in common: how they ask, and what they keep of it."""
