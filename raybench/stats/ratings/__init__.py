"""What Bradley–Terry and Plackett–Luce share: matches as choices, one fit, and what it tells."""
