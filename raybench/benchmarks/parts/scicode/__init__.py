"""How SciCode's steps are asked and graded: prompts, targets, test cases, the sandbox's side."""
