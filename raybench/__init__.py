"""Raybench ranks language models in independent ways on one Ray cluster."""

__version__ = "0.1.0"
