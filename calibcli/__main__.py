"""Run the command line as `python -m calibcli`."""

import sys

if __name__ == "__main__":
    # Python would look for every library in the working directory first, where any file may be called as one.
    if not sys.flags.safe_path:
        del sys.path[0]
    from calibcli.shell.app import run

    run()
