"""What benchmarks have in common: the contract they keep, prompts and rules that several share."""
