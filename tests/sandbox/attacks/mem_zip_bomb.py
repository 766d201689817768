"""Unpack a megabyte of zlib into a gigabyte of memory.

unconfined: safe
expect: ok memory
limits: cpu_s=10 wall_s=60
"""

import json
import sys
import zlib

bait = json.loads(sys.stdin.readline())
wanted = 4 * bait["limits"]["memory_mb"] << 20
packer = zlib.compressobj(wbits=-15)
megabyte = packer.compress(bytes(1 << 20)) + packer.flush(zlib.Z_FULL_FLUSH)
bomb = megabyte * (wanted >> 20)
try:
    print("BREACH", len(zlib.decompressobj(-15).decompress(bomb)) >> 20, "MB")
except MemoryError:
    print("CONTAINED")
