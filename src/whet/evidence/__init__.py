"""The statistics, alone: bets, intervals, verdicts, error budget, power."""
