"""What strategies are made of: how a model is asked, and how its reply is read."""
