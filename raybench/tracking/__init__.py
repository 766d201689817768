"""What a run leaves for people: MLflow runs, leaderboard, report, plots, and the console."""
