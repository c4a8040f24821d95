"""What the two tiers that render pages share: a browser, its network, and the life of one page in it."""
