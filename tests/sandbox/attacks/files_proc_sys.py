"""Open the kernel's settings for writing (nothing is written); an open file proves it.

unconfined: safe
"""

import os
import sys

opened = []
for path in [
    "/proc/sys/kernel/core_pattern",
    "/proc/sys/kernel/hostname",
    "/proc/sys/kernel/modprobe",
    "/proc/sys/kernel/sysrq",
    "/proc/sys/vm/overcommit_memory",
    "/proc/sys/vm/drop_caches",
    "/proc/sys/fs/file-max",
    "/proc/sys/fs/binfmt_misc/register",
    "/proc/sys/net/ipv4/ip_forward",
    "/proc/sys/user/max_user_namespaces",
    "/proc/sysrq-trigger",
    "/proc/irq/default_smp_affinity",
    "/proc/self/task/../../sys/kernel/core_pattern",
]:
    try:
        os.close(os.open(path, os.O_WRONLY))
        opened.append(path)
    except OSError as error:
        print(error, file=sys.stderr)
print("BREACH" if opened else "CONTAINED", *opened)
