"""What the tests in Python share, under a name that no module of the system has."""
