"""What runs in the sandbox's own interpreter: the fork server and the walls it puts up.

Nothing but the standard library is imported here, and imports are relative: the server loads this
folder by itself, in a Python that need not have raybench.
"""
