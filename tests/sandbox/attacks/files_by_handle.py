"""Open files by their handles (open_by_handle_at), as the container escape "shocker" did.

unconfined: safe
"""

import ctypes
import os
import struct
import sys

libc = ctypes.CDLL(None, use_errno=True)
opened = []
for path in ("/", ".", "/usr", "/proc/self/exe", sys.executable, os.__file__, "/tmp", "/dev/null"):
    mount = ctypes.c_int()
    handle = ctypes.create_string_buffer(struct.pack("Ii", 128, 0) + bytes(128))
    if libc.name_to_handle_at(-100, path.encode(), handle, ctypes.byref(mount), 0):
        # The root of most file systems, as it is known without having been told.
        handle = ctypes.create_string_buffer(struct.pack("IiII", 8, 1, 2, 0))
    try:
        folder = os.open(path, os.O_RDONLY)
    except OSError as error:
        print(error, file=sys.stderr)
        continue
    descriptor = libc.open_by_handle_at(folder, handle, os.O_RDONLY)
    if descriptor >= 0:
        opened.append(os.readlink(f"/proc/self/fd/{descriptor}"))
    else:
        print(path, os.strerror(ctypes.get_errno()), file=sys.stderr)
print("BREACH" if opened else "CONTAINED", *opened)
