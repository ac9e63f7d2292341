"""Secrets in addresses: those of stores are refused, and of no address are they shown."""

import json
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from calibcli.data.objects import objects_below, refuse_secrets
from calibcli.data.outputs import new_file, refuse_existing
from calibcli.errors import DocumentProblem, InputProblem, UsageProblem, without_secrets
from calibcli.reports.input import Setting, settings_said

SECRET = "hunter2"  # noqa: S105 - what must not be seen again
ADDRESSES = [
    f"https://user:{SECRET}@host/x.csv",
    f"https://{SECRET}@host/x.csv",
    f"https:/user:{SECRET}@host/x.csv",
    f"https://user:{SECRET}@@host:80/x.csv",
    f"https://user:a/{SECRET}@host/x.csv",
    f"s3://AKIA:{SECRET}/b+c@bucket/x.parquet",
    f"s3://bucket/x.parquet?secret_key={SECRET}&region=eu",
    f"https://host/x?X-Amz-Algorithm=AWS4&X-Amz-Signature={SECRET}",
    f"https://host/x?x-amz-security-token={SECRET}#part",
    f"https://account.blob.core.windows.net/c/x?sv=2022&sig={SECRET}",
    f"gs://bucket/x?access_token={SECRET}",
    f"abfs://container@account.dfs.core.windows.net/x?sas={SECRET}",
    f"abfs://container@account.dfs.core.windows.net/x?AccountKey={SECRET}&x=1",
    f"abfss://container:{SECRET}@account.dfs.core.windows.net/x",
    f"tcp://user:{SECRET}@scheduler:8786",
    f"sc://host:15002/;token={SECRET};use_ssl=true",
    f"ftp://anonymous:{SECRET}@host",
]
HARMLESS = [
    "abfss://container@account.dfs.core.windows.net/x",
    "s3://bucket/a@b.csv",
    "https://host:8080/path@v1",
    "data/a@b.csv: there is no such file",
    "country==US&code=5",
    "a:b@c",
    "is 'x@y' a label? say --positive VALUE; or drop it: a=b",
    "design=3 ?design=4",
]
WITH_SECRETS = [
    f"s3://AKIA:{SECRET}@bucket/preds.csv",
    f"s3://AKIA:{SECRET}/slash@bucket/preds.csv",
    f"S3://AKIA:{SECRET}@bucket/",
    f"abfs://account:{SECRET}@host:10000/preds.csv",
    f"abfs://container@account.dfs.core.windows.net/preds.csv?client_secret={SECRET}",
]


@pytest.mark.parametrize("address", ADDRESSES)
def test_secrets_of_addresses_are_not_in_what_is_shown(address: str) -> None:
    """Wherever the address stands in a sentence, and in quotes; once is as often."""
    for text in (address, f"error: '{address}' cannot be read", f'["{address}"]'):
        shown = without_secrets(text)
        assert SECRET not in shown
        assert "***" in shown
        assert without_secrets(shown) == shown


@pytest.mark.parametrize("text", HARMLESS)
def test_what_grants_nothing_is_left_as_it_is(text: str) -> None:
    """Containers of Azure, paths with an @, and sentences."""
    assert without_secrets(text) == text


def test_long_texts_take_no_long_time() -> None:
    """A name may be made to be slow."""
    parts = ("a-" * 200_000 + "@:/=?", "a:/" * 100_000 + "@", "&" + "x" * 400_000 + "=@?")
    for text in (*parts, "?token" * 60_000 + "=", "a:/b:c" * 60_000 + "@"):
        began = time.process_time()
        without_secrets(text)
        assert time.process_time() - began < 2.0


def test_errors_and_settings_leave_them_out() -> None:
    """Whoever shows an error shows this text."""
    address = ADDRESSES[0]
    for problem in (InputProblem(address, f"try {address}"), DocumentProblem(address, address, address)):
        assert SECRET not in f"{problem} {problem.message} {problem.hint} {problem.__reduce__()}"
    setting = Setting("engine-address", f"tcp://u:{SECRET}@h:1", "CALIBCLI_MEASURE_ENGINE_ADDRESS")
    assert SECRET not in json.dumps([setting.to_dict(), settings_said([setting])])


@pytest.mark.parametrize("address", [one for one in ADDRESSES if not one.startswith(("tcp", "sc"))])
def test_no_command_repeats_a_secret(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, address: str
) -> None:
    """As an input, an artifact, an output, a state or a report; in JUnit, GitHub's summary and tracebacks."""
    from calibcli.shell.app import main

    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", "summary.md")
    Path("rows.csv").write_text("score,label\n" + "0.5,1\n0.25,0\n" * 50)
    reports = ["--report", "junit=j.xml", "--report", "github", "--report", "openmetrics=o.prom", "--force"]
    lines: list[list[str]] = [
        ["measure", address],
        ["measure", "rows.csv", "--artifact", address, "--debug"],
        ["measure", "rows.csv", "-o", address],
        ["measure", "rows.csv", "--summary-out", address],
        ["verify", address, "--max-ece", "0.1", *reports],
        ["verify", "rows.csv", "--max-ece", "0.1", "--state", address, *reports],
        ["verify", "rows.csv", "--max-ece", "0.1", "--report", f"junit={address}"],
        ["verify", "rows.csv", "--baseline", address, "--max-regression", "0.1"],
        ["inspect", address],
        ["plot", "rows.csv", "-o", f"{address}.png"],
        ["apply", address, "rows.csv", "-o", "out.csv"],
        ["merge", address, address, "-o", "out.json"],
        ["export", address, "--to", "sql"],
        ["plan", "--max-ece", "0.1", "--like", address],
        ["--config", address, "measure", "rows.csv"],
        ["measure", "rows.csv", "--bins", address],
    ]  # fmt: skip
    # Every door for the first address, and those of an input, an output and a gate for all.
    for line in lines if address == ADDRESSES[0] else [lines[0], lines[2], lines[4], lines[5]]:
        assert main(line) in (2, 3, 5), line
        said = capsys.readouterr()
        written = "".join(path.read_text() for path in tmp_path.iterdir() if path.name != "rows.csv")
        assert SECRET not in said.out + said.err + written, line


def test_an_engine_that_cannot_be_reached_is_named_without_its_password(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    """Nor does the note on a variable name it."""
    from calibcli.shell.app import main

    file = tmp_path / "rows.csv"
    file.write_text("score,label\n" + "0.5,1\n0.25,0\n" * 50)
    line: Callable[[str], list[str]] = lambda engine: ["measure", str(file), "--engine", engine]  # noqa: E731
    for engine, address in (("dask", f"nosuch://u:{SECRET}@h"), ("spark", f"nosuch://u:{SECRET}@h")):
        assert main([*line(engine), "--engine-address", address]) in (2, 3)
        said = capsys.readouterr()
        assert SECRET not in said.out + said.err


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
        assert SECRET not in f"{problem} {problem.hint}"


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
