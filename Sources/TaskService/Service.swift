// Handlers, sessions and the door; follows.
