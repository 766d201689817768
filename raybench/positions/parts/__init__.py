"""What positions are, and how the values of moves become scores."""
