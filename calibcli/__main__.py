"""Run the command line as `python -m calibcli`."""

from calibcli.cli.app import main

if __name__ == "__main__":
    raise SystemExit(main())
