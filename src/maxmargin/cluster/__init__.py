"""Linear problems whose rows are in shards on many machines: rounds of sums, each with its certificate.

`engine` says how a round is run (here or in processes; `dask_engine` on Dask), `shard` what a worker holds,
`evaluation`, `near_rows` and `point` what it computes in a round, `tall`, `gathered` and `wide` how the next point
follows, `folder` how files are read; `run` does the rounds.
"""
