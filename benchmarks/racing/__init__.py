"""What the two benchmarks and the race share: the data, the judge, the peers' common part, and the race itself."""
