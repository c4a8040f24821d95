"""Does the planner spend requests where changes are: a simulated shop, the real planner, and others beside it."""
