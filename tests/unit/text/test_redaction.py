"""Secrets are replaced, ordinary words, ids and file names are not."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from driftguard_langgraph.errors import ConfigurationError
from driftguard_langgraph.guard import DriftGuard
from driftguard_langgraph.settings import DriftGuardSettings
from driftguard_langgraph.text.redaction import Redactor
from tests.memory_samples import SeededEmbedder

REDACTED = [
    (
        "export OPENAI_API_KEY=sk-proj-abcDEF1234567890abcDEF12",
        "export OPENAI_API_KEY=[redacted:api_key]",
    ),
    ("password=hunter2", "password=[redacted:password]"),
    ("password: hunter2", "password: [redacted:password]"),
    ('DB_PASSWORD="correct horse"', 'DB_PASSWORD="[redacted:password]"'),
    ("--password swordfish", "--password [redacted:password]"),
    ("Authorization: Bearer abc.def.ghi12345", "Authorization: [redacted:token]"),
    ("authorization: Basic dXNlcjpwYXNz", "authorization: [redacted:token]"),
    (
        "postgres://app:s3cr3t@db.internal:5432/x",
        "postgres://app:[redacted:password]@db.internal:5432/x",
    ),
    ("mongodb+srv://u:p@ss@h/x", "mongodb+srv://u:[redacted:password]@h/x"),
    ("AKIAIOSFODNN7EXAMPLE", "[redacted:cloud_key]"),
    ("ghp_a1B2a1B2a1B2a1B2a1B2a1B2a1B2a1B2a1B2", "[redacted:token]"),
    ("the password is hunter22", "the password is [redacted:password]"),
    ("card 4111 1111 1111 1111 declined", "card [redacted:card] declined"),
    ("paid with 378282246310005", "paid with [redacted:card]"),
    ("5555-5555-5555-4444", "[redacted:card]"),
    (
        "-----BEGIN RSA PRIVATE KEY-----\nMIIE\n-----END RSA PRIVATE KEY-----",
        "[redacted:private_key]",
    ),
    ("eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.dozjgNryP4J3jVmN", "[redacted:token]"),
    ("curl -u bob:secretpw https://x", "curl -u bob:[redacted:password] https://x"),
    (
        "aws_secret_access_key = wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY",
        "aws_secret_access_key = [redacted:secret]",
    ),
    ("Cookie: session=abcd1234; id=3", "Cookie: [redacted:cookie]"),
    ("clientSecret: 'abc123xyz'", "clientSecret: '[redacted:secret]'"),
    ("x-api-key: 12345abcde", "x-api-key: [redacted:api_key]"),
    ('{"api_key": "abc"}', '{"api_key": "[redacted:api_key]"}'),
    (
        "AccountKey=Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50uSRZ6IFsuFq2UVErCz4I6tq",
        "AccountKey=[redacted:api_key]",
    ),
    ("access_token=ya29.a0AfH6SMBx12345678901234567", "access_token=[redacted:token]"),
    ("Set-Cookie: sid=1", "Set-Cookie: [redacted:cookie]"),
    ("token=abc123def", "token=[redacted:token]"),
    ("accessToken: 'abc123def456'", "accessToken: '[redacted:token]'"),
    ("dbPassword=hunter2", "dbPassword=[redacted:password]"),
    ("MYSQL_PWD=geheim12", "MYSQL_PWD=[redacted:password]"),
    ("password:swordfish", "password:[redacted:password]"),
    ("redis://:p4ssw0rd@cache:6379/0", "redis://:[redacted:password]@cache:6379/0"),
    (
        "Server=x;User Id=sa;Password=Str0ng!Pass;",
        "Server=x;User Id=sa;Password=[redacted:password];",
    ),
    ("api key: abc123", "api key: [redacted:api_key]"),
    ("secret_key='django-insecure-xyz'", "secret_key='[redacted:secret]'"),
    ("PGPASSWORD=foo123 psql", "PGPASSWORD=[redacted:password] psql"),
    ("ssh password = root1234", "ssh password = [redacted:password]"),
]
ORDINARY = [
    "Unexpected token: }",
    "unexpected token: identifier",
    "max_tokens=4000",
    "token_count=12",
    "password: required",
    "password=None",
    "password: str",
    "api_key=os.environ['X']",
    "password: ${DB}",
    "report_4111111111111111.pdf",
    "logs/4111111111111111/x",
    "commit 3f786850e387550fdab836ed7e6dc881de23001b",
    "uuid 123e4567-e89b-12d3-a456-426614174000",
    "task-12345678901234567890",
    "order 1234567890123456",
    "timestamp 1700000000000",
    "the bearer of bad news arrived",
    "bearer authentication failed",
    "Basic operations",
    "next_page_token=abc123",
    "pass=3 fail=2",
    "passed: 12",
    "pass: 12 tests",
    "password must contain 8 characters",
    "reset the password for user 17",
    "rotate the secret",
    "file sk-learn-contrib-pipeline",
    "https://host:8080/path@2x.png",
    "http://host/a:b@c",
    "key: value",
    "primary key=user_id",
    "foreign_key: users.id",
    "monkey=banana",
    "cookie: chocolate",
    "tokenizer=bert-base",
    "secretary: Anna",
    "secret santa: Bob",
    "compass=north",
    "bypass: true",
    "tokens: 512",
    "sort_key=created_at",
    "keyboard: qwerty",
    "image sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
    "phone +49 170 1234567",
    "iban DE89370400440532013000",
    "git@github.com:org/repo.git",
    "2024-01-02 03:04:05 1234 5678",
    "partition_key=2024",
    "token: expected",
    "password incorrect",
    "access key rotation: done",
    "git -u origin main:main",
    "docker run -u 1000:1000 image",
    "/bin/bash: line 1: pwd: -P: invalid option",
]
KEY = "sk-proj-abcDEF1234567890abcDEF12"


@pytest.mark.parametrize(("given", "kept"), REDACTED)
def test_a_secret_is_replaced_by_what_it_was(given: str, kept: str) -> None:
    assert Redactor().text(given) == kept


@pytest.mark.parametrize("given", [given for given, _ in REDACTED])
def test_what_was_redacted_once_stays_as_it_is(given: str) -> None:
    once = Redactor().text(given)
    assert Redactor().text(once) == once


@pytest.mark.parametrize("given", ORDINARY)
def test_ordinary_text_is_left_alone(given: str) -> None:
    assert Redactor().text(given) == given


def test_an_argument_is_secret_by_its_name_or_by_its_value() -> None:
    given = {
        "password": "abc",
        "dbPassword": 12345,
        "token": "the",
        "auth": {"apiKey": "abcd", "token": "abc123def"},
        "list": [f"use {KEY}", 3, None, True],
        "headers": {"Authorization": "Bearer abcdef"},
        "primary_key": "id",
        "passed": 12,
        "secret": None,
        "password_from": "${VAULT}",
    }
    assert Redactor().json(given) == {
        "password": "[redacted:password]",
        "dbPassword": "[redacted:password]",
        "token": "the",
        "auth": {"apiKey": "[redacted:secret]", "token": "[redacted:token]"},
        "list": ["use [redacted:api_key]", 3, None, True],
        "headers": {"Authorization": "[redacted:token]"},
        "primary_key": "id",
        "passed": 12,
        "secret": None,
        "password_from": "${VAULT}",
    }


def test_own_patterns_name_their_placeholder() -> None:
    redactor = Redactor([r"\bE\d{6}\b", r"patient (?P<patient>\w+)"])
    assert (
        redactor.text("E123456 of patient Ann") == "[redacted:custom] of patient [redacted:patient]"
    )


@pytest.mark.parametrize("pattern", ["(", "a*"])
def test_a_pattern_that_cannot_be_used_is_a_wrong_setting(pattern: str) -> None:
    with pytest.raises(ConfigurationError, match="redact_patterns"):
        DriftGuardSettings(redact_patterns=(pattern,))


def guard(path: Path, **settings: Any) -> DriftGuard:
    chosen = DriftGuardSettings(sqlite_filepath=path, **settings)
    return DriftGuard(settings=chosen, embeddings=SeededEmbedder())


def test_no_secret_reaches_the_file_or_an_answer(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level("DEBUG", "driftguard_langgraph")
    call = {"name": "login", "args": {"user": "ann", "password": "swordfish-7"}}
    with guard(tmp_path / "m.sqlite3", redact_patterns=(r"E\d{6}",)) as memory:
        receipt = memory.record(
            call,
            f"401 for Authorization: Bearer {KEY}",
            "E123456 was locked out",
            metadata={"env": {"API_KEY": KEY}},
            provenance={"thread_id": "t"},
        )
        memory.record_run_outcome(thread_id="t", success=False, outcome="card 4111111111111111")
        review = memory.review(call)
        written = b"".join(file.read_bytes() for file in tmp_path.iterdir())
    told = json.dumps([receipt, review.to_dict()]) + caplog.text
    assert review.query == 'login(password="[redacted:password]", user="ann")'
    for secret in ("swordfish-7", KEY, "E123456", "4111111111111111"):
        assert secret.encode() not in written
        assert secret not in told
    assert b"[redacted:password]" in written


def test_a_step_is_recognised_when_it_is_tried_with_another_key(tmp_path: Path) -> None:
    with guard(tmp_path / "m.sqlite3") as memory:
        memory.record("deploy with password=hunter2", "refused", "nothing was deployed")
        [warning] = memory.review("deploy with password=letmein9").warnings
    assert warning.match.kind == "exact"


def test_redaction_can_be_turned_off(tmp_path: Path) -> None:
    with guard(tmp_path / "m.sqlite3", redact=False) as memory:
        assert memory.record("use password=hunter2", "f", "o")["action"] == "use password=hunter2"


def test_a_secret_cut_by_the_size_limit_is_replaced_before_the_cut(tmp_path: Path) -> None:
    with guard(tmp_path / "m.sqlite3", max_text_chars=200) as memory:
        kept = memory.record("a" * 120 + " " + KEY + " " + "b" * 300, "f", "o")["action"]
    assert "sk-proj" not in kept
