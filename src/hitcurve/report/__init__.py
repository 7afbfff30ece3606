"""Results for people: the answer first, tables, plots, and the doctor's findings."""
