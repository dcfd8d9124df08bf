"""Commands that judge environments: verify, mutate, repro, localise, redteam."""
