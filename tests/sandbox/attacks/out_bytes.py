"""Write bytes that are no text: the outcome must come all the same.

unconfined: no, there is nothing to gain
"""

import os

os.write(1, b"CONTAINED\n\xff\xfe\x00\x01\xc3(\xed\xa0\x80\x1b[2J\x1b]0;title\x07\r\n\xf0\x9f\x98")
os.write(2, bytes(range(256)) * 16)
