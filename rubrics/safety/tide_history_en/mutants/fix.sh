# The module as it was.
cp tidewatch/tidewatch.py results/tidewatch.py
