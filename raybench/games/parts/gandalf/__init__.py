"""The parts of Gandalf: what may be chosen, the passwords, and how a message gives one away."""
