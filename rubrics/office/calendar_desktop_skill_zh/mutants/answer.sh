# The answer keeps silent about the scouts.
# message: Done; FIN has to be told.
