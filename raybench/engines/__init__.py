"""Engines on GPUs: which replica of which model runs where, and what is sent to it."""
