"""What the dashboard decides: values in, values out."""
