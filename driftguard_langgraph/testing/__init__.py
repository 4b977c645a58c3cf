"""What a memory store must do, as tests that anybody can run on theirs.

```python
from driftguard_langgraph.testing import memory_store_suite

TestMyStore = memory_store_suite(open_my_store, {"durable", "live"})
```

`open_my_store(place)` opens the store that lives at `place`, an empty folder of the test's
own: the same memory whenever the place is the same. Run the file with `pytest`.
"""

from __future__ import annotations

from importlib.util import find_spec

from driftguard_langgraph.errors import MissingExtra

if find_spec("pytest") is None:
    raise MissingExtra.of("the conformance suite", "testing")

import pytest

# The asserts explain themselves as those in a test file do.
pytest.register_assert_rewrite("driftguard_langgraph.testing.checks")

from driftguard_langgraph.testing.places import Capability  # noqa: E402 - after the line above
from driftguard_langgraph.testing.suite import (  # noqa: E402
    MemoryStoreSuite,
    memory_store_suite,
)

__all__ = ["Capability", "MemoryStoreSuite", "memory_store_suite"]
