"""Computes the tables of the paper; see tools/paper.py."""
