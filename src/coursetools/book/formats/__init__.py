"""The built book in other formats: one PDF, one EPUB, and the site as one zip to read offline."""
