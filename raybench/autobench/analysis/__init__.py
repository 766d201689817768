"""What the ratings of a peer assessment say, and how sure they are of it. Reads records only."""
