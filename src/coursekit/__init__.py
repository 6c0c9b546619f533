"""The shared package of the course: parts, models, practice and the course's own machinery.

Every name is imported from the file that explains it: `from coursekit.attention import attention`,
`from coursekit import masks`. This file loads nothing, so the command line answers without torch.
"""

__version__ = "0.1.0"
