"""One file for each function of the package, in step with the commands of the same names."""
