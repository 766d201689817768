"""How programs for LiveCodeBench's problems are tested."""
