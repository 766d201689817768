"""A run's durable copy in an object store or on a shared file system, beside its folder.

An object store cannot append, and has no lock that dies with its process. Of a run it holds

    lease.json                 who is at work on it, and which segments count
    journal/NAME/SEGMENT       a journal's batches, one immutable object each, while it goes on
    journal/NAME.jsonl         the whole journal, once the run is finished
    everything else            as it lies in the run's folder; results.json comes last

`segments` and `lease` are pure: what counts. `objects` and `patience` speak to the store. `hold`
is a run that this process is at work on; `storage` finds runs and fetches them.
"""

from raybench.pipeline.storage.hold import Hold
from raybench.pipeline.storage.storage import Storage, trouble

__all__ = ["Hold", "Storage", "trouble"]
