# The bundle was touched.
printf x >> sources/fares.bundle
