"""Pure statistics: every number with its uncertainty and the name of the method."""
