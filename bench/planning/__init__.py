"""What the planning of a refresh costs in a store of a million pages, and each claim and visit by it."""
