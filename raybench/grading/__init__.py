"""What a response says and whether it is right: pure functions on text."""
