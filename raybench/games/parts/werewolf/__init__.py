"""The parts of Werewolf: what may be chosen, who sees what, and how able stand-ins play."""
