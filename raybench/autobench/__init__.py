"""AutoBench: reciprocal peer assessment (Loi et al.). The pure part: prompts and protocol."""
