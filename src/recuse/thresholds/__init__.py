"""Plug-in rejection: a reject option around any classifier."""
