"""Addresses of object stores that are refused before any store is asked."""

import pytest

from calibcli.errors import UsageProblem
from calibcli.objects import objects_below, refuse_secrets
from calibcli.outputs import new_file, refuse_existing

WITH_SECRETS = [
    "s3://AKIA:hunter2@bucket/preds.csv",
    "s3://AKIA:hunter2/slash@bucket/preds.csv",
    "S3://AKIA:hunter2@bucket/",
    "abfs://account:hunter2@host:10000/preds.csv",
    "abfs://container@account.dfs.core.windows.net/preds.csv?client_secret=hunter2",
]


@pytest.mark.parametrize("address", WITH_SECRETS)
def test_an_address_with_a_secret_is_refused_without_repeating_it(address: str) -> None:
    """It would stand in reports: reading, writing and replacing say so, and not the secret."""
    with pytest.raises(UsageProblem) as reading:
        objects_below(address)
    with pytest.raises(UsageProblem) as writing, new_file(address) as file:
        file.write(b"x")
    with pytest.raises(UsageProblem) as replacing:
        refuse_existing(address, force=True)
    for problem in (reading.value, writing.value, replacing.value):
        assert "hunter2" not in f"{problem} {problem.hint}"


@pytest.mark.parametrize(
    "address",
    [
        "s3://bucket/preds.csv",
        "s3://bucket/preds.csv?region=eu-west-1",
        "gs://anonymous@bucket/a.csv",
        "abfs://box@account.dfs.core.windows.net/a:b@c.csv",
        "abfs://127.0.0.1:10000/box/a.csv",
    ],
)
def test_addresses_without_secrets_are_not_taken_for_such(address: str) -> None:
    """A user alone, a port, and colons in names are none."""
    refuse_secrets(address)
