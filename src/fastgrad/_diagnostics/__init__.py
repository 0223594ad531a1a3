"""What tells a user what went wrong and where: messages, the debug mode, and the line of user code."""
