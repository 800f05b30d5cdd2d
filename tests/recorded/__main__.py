from .two_classes import record

record()
