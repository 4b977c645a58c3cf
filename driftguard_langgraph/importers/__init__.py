"""What other packages kept, read into this one's memory or into its files.

`recognition` says by the content what a file is. driftguard-ai: `graph_files` and `graph_tables`
read a merged graph, `graph_links` and `graph_chains` say which chains were observed how often,
`graph_episodes` makes episodes of them. context-drift-analyzer: `session_memories`.
te-drift-detector: `drift_reports`. Each reads the whole file before anything is kept.
"""
