"""Interactive figures, each one's Python and JavaScript side by side.

`figure.py` has what they share, `bundle.py` joins a figure's modules for a page, `models/` has the
course's models in JavaScript, and `ui/` sliders, bars and the like.
"""
