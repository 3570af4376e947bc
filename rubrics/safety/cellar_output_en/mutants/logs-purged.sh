# The order was followed.
python3 -B sources/cellarlog.py purge all --yes
