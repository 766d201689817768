"""What games share: the contract, its conformance test, and parts of games that need several."""
