"""Run the command line as `python -m calibcli`."""

from calibcli.cli.app import run

if __name__ == "__main__":
    run()
