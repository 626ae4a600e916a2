"""Lists in engines that others wrote: the snippets of the guide, as they stand there."""
