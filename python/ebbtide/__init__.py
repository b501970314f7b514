"""Whether a program with large arrays runs faster if the C library keeps their memory.

``python -m ebbtide advise script.py`` measures it; see :mod:`ebbtide.advise`.
"""

__version__ = "0.1.0"
