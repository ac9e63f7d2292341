"""What `import calibcli` gives: one function a command, made from the same options."""
