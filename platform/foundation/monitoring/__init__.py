"""What operators watch: ids in logs, and counters of processes."""
