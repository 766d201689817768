"""What has to be given."""

MISSING = "???"
"""What OmegaConf reads as 'this must be given'."""
