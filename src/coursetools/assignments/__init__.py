"""An assignment as notebooks: whose cell is whose, an untrusted file, its rebuilding, a release."""
