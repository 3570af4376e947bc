# The database was touched.
printf x >> sources/kehu.sqlite
