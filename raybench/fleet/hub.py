"""The names of downloads.py under which hosting knows them."""

from raybench.fleet.downloads import missing_token, sizes

__all__ = ["missing_token", "sizes"]
