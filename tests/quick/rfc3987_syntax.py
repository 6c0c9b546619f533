"""Not the package of this name: it compiles a grammar for two seconds in each process of Jupyter.

jsonschema does without it, and the form of notebooks has no internationalised addresses.
"""

raise ImportError("the processes of the tests do without rfc3987_syntax")
