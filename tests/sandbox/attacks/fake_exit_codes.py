"""Exit with a code beyond a byte: what is left of it must be reported, as the shell would.

unconfined: no, there is nothing to gain
expect: error
exit_code: 255
"""

import sys

sys.exit(-1)
