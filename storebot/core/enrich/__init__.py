"""What follows from the saved rows alone: one product in many shops, price lows, unit prices."""
