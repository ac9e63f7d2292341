"""What needs tasks, renderers and figures together."""
