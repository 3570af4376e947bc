# The database was touched.
printf x >> sources/clients.sqlite
