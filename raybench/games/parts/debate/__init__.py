"""The parts of Debate: motions, the order of speeches, what jurors are asked and have decided."""
