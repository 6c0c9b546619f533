"""An assignment as notebooks: whose cell is whose, a stranger's file, its rebuilding, a release."""
