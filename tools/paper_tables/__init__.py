"""Computes the tables of the paper next to ours; see tools/paper.py."""
