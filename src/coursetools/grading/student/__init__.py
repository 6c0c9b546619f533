"""All that runs beside a student's code, and the wire on which it is called."""
