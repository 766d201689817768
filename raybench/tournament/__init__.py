"""How models compete: one match by the rules, who meets whom, and what the results say."""
