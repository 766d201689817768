"""The arena plays what the pure floors describe: it carries their questions to the fleet."""
