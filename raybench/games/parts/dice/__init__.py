"""The parts of Liar's Dice: what may be chosen, and how bids are written and compared."""
