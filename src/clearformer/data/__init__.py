"""Files → batches: text, parallel text, labelled text, series, images, and the named sets.

Reading order: `batches` (what a batch depends on), `loader`, then one file a kind of data.
"""
