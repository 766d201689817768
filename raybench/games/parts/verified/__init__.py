"""Generate and verify: who sets a challenge has to solve it unseen before somebody else tries."""
