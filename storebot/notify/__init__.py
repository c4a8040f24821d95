"""Messages to people: what is wrong, and what moved in the market, through Apprise."""
