"""Reading kept pages again: all cores parse, one process saves, nobody has a network."""
