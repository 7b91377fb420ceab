"""Accuracy and speed, against papers and peers, each a command."""
