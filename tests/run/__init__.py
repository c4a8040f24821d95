"""The run, by whole crawls inside the test's own process."""
