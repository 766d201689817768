"""`python -m raybench.prefetch`: fetch what a run reads from the hub before it starts."""
