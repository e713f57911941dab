"""The callables that a user hands in beside his module: in which of their usual forms each one is called.

As with a module, the signature is read first and then each form is tried; `docs/doctor.md` lists the forms.
"""
