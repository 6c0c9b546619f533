"""All that runs beside a stranger's code, and the wire on which it is asked."""
