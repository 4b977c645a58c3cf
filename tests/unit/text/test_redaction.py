"""Secrets are replaced, ordinary words, ids and file names are not."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given as drawn
from hypothesis import strategies as st

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


BASIC = "Ym9iOnRpZ2VyLWx5" + "bHk="
OPAQUE = "q7Zt4mN1vX8sKd2LwP0c"
HIDDEN: list[tuple[Any, tuple[str, ...]]] = [
    ({"passwords": ["swordfish", "tiger-lily"]}, ("swordfish", "tiger-lily")),
    ({"password": ["swordfish"]}, ("swordfish",)),
    ({"secret": {"primary": "swordfish", "old": {"value": "tiger-lily"}}}, ("swordfish", "tiger")),
    ({"dbCredentials": {"user": "bob", "pass_1": "swordfish"}}, ("swordfish",)),
    ({"client_secrets": {"eu": ["swordfish"]}}, ("swordfish",)),
    ({"tokens": [OPAQUE]}, (OPAQUE,)),
    ({"name": "DB_PASSWORD", "value": "swordfish"}, ("swordfish",)),
    (
        {"env": [{"name": "HOST", "value": "db"}, {"name": "API_KEY", "value": "swordfish"}]},
        ("swordfish",),
    ),
    ({"key": "spring.datasource.password", "value": "swordfish", "tags": []}, ("swordfish",)),
    (
        {"field": "password", "new_value": "swordfish", "old_value": "tiger-lily"},
        ("swordfish", "tiger-lily"),
    ),
    ({"header": "Authorization", "value": "swordfish"}, ("swordfish",)),
    ({"name": "ADMIN_PASSWORDS", "value": "x"}, ()),
    (["--password", "swordfish", "--user", "bob"], ("swordfish",)),
    (["curl", "-u", "bob:swordfish"], ("swordfish",)),
    (["-H", f"Authorization: Basic {BASIC}"], (BASIC,)),
    ([["X-Api-Key", OPAQUE], ["Accept", "text/html"]], (OPAQUE,)),
    ({"headers": {"Proxy-Authorization": f"Basic {BASIC}"}}, (BASIC,)),
    ({"auth": f"Basic {BASIC}"}, (BASIC,)),
    ({"url": "https://bob:swordfish@host/x"}, ("swordfish",)),
    ({"url": f"https://{OPAQUE}@host/x"}, (OPAQUE,)),
    ({"url": f"https://host/x?se=1&sig={OPAQUE}&sp=r"}, (OPAQUE,)),
]
SHOWN: list[Any] = [
    {"password": ["This field is required."]},
    {"password": ["can't be blank", "is too short (minimum is 8 characters)"]},
    {
        "password": {
            "type": "string",
            "minLength": 8,
            "description": "Of the user",
            "maxLength": 128,
        }
    },
    {
        "secret": {
            "name": "db-login",
            "namespace": "shop",
            "type": "Opaque",
            "createdAt": "2026-01-02",
        }
    },
    {"credentials": {"user": "robert", "provider": "postgres", "expires": "2026-12-01T10:00:00Z"}},
    {"name": "LOG_LEVEL", "value": "debug"},
    {"name": "reset the password", "value": "on the settings page"},
    {"question": "password", "answers": "see chapter seven"},
    {"key": "primary", "value": "swordfish"},
    {"tokens": ["the", "quick", "brown42", "fox"], "max_tokens": 123456, "tokens_used": 4096},
    {"tool": "reset_password", "text": "done"},
    ["username", "password"],
    ["password", "username"],
    ["secret", "garden", "rose"],
    ["--verbose", "--output", "report.txt"],
    ["-u", "1000:1000"],
    "Basic authentication is switched off; Basic training starts at noon",
    "Authorization: required for administrators",
    "authorization=pending, ask the owner",
    "see https://documentation@example.org/guide",
    "https://host/x?sign=1&sigma=0.5&signature=none",
    "the basic premise: words",
    "name: password reset value: of the quarter",
    "key=value",
]


@pytest.mark.parametrize("number", range(len(HIDDEN)))
def test_a_secret_in_json_is_hidden_wherever_its_name_stands(number: int) -> None:
    given, secrets = HIDDEN[number]
    redactor = Redactor()
    for kept in (
        json.dumps(redactor.json(given)),
        redactor.text(json.dumps(given)),
        json.dumps(redactor.json([{"deep": [given, None]}])),
        redactor.text(json.dumps({"stdout": json.dumps(given)})),
    ):
        assert not [secret for secret in secrets if secret in kept]
    assert redactor.json(redactor.json(given)) == redactor.json(given)


@pytest.mark.parametrize("number", range(len(SHOWN)))
def test_what_only_speaks_of_secrets_is_left_alone(number: int) -> None:
    given = SHOWN[number]
    assert Redactor().json(given) == given
    written = given if isinstance(given, str) else json.dumps(given)
    assert Redactor().text(written) == written


@pytest.mark.parametrize(
    "text",
    [
        "- name: DB_PASSWORD\n  value: swordfish\n",
        "{'name': 'dbPassword', 'value': 'swordfish'}",
        "[EnvVar(name='API_KEY', value='swordfish')]",
        "Authorization: swordfish-7 was refused",
        "Authorization: AWS4-HMAC-SHA256 Credential=swordfish/2026, Signature=swordfish",
        "Proxy-Authorization: Negotiate swordfish==",
        f"sent Basic {BASIC} to the host",
    ],
)
def test_a_secret_in_text_is_hidden_wherever_its_name_stands(text: str) -> None:
    kept = Redactor().text(text)
    assert "swordfish" not in kept
    assert BASIC not in kept
    assert "[redacted:" in kept


WORDS = st.text(alphabet="abcdefghijklmnopqrstuvwxyz", min_size=1, max_size=12)
SENTENCES = st.lists(WORDS, min_size=1, max_size=6).map(" ".join)
PLAIN = st.recursive(
    st.none() | st.booleans() | st.integers(-999, 999) | SENTENCES,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(WORDS, inner, max_size=3),
    max_leaves=8,
)
NAMED = ("password", "dbPassword", "client_secret", "PRIVATE_KEY", "apiKey", "passwords", "secret")


@drawn(PLAIN)
def test_json_of_ordinary_words_is_left_alone(value: Any) -> None:
    if not re.search(
        r"(?i)pass|pwd|secret|key|credential|token|cookie|authorization|basic", json.dumps(value)
    ):
        assert Redactor().json(value) == value


@drawn(
    st.sampled_from(NAMED),
    st.lists(st.sampled_from(["list", "dict", "beside"]), max_size=3),
    st.from_regex(r"[a-z]{4}[A-Z0-9][a-zA-Z0-9]{5,20}", fullmatch=True),
    PLAIN,
)
def test_no_nesting_hides_a_secret_from_its_name(
    name: str, nesting: list[str], secret: str, other: Any
) -> None:
    held: Any = secret
    for shape in nesting:
        held = (
            [held]
            if shape == "list"
            else {"primary": held}
            if shape == "dict"
            else {"value": held, "name": "x"}
        )
    document = {"a": other, "b": [{name: held}]}
    assert secret not in json.dumps(Redactor().json(document))
    assert secret not in Redactor().text(json.dumps(document))


def test_ids_lose_their_secrets_and_stay_apart(tmp_path: Path) -> None:
    one, other = (f"bob-password=swordfish-{n}" for n in (1, 2))
    with guard(tmp_path / "m.sqlite3") as memory:
        for thread in (one, other, one):
            memory.record(
                "deploy",
                "refused",
                "nothing",
                provenance={"thread_id": thread, "x": KEY},
                episode_id=f"{thread}:call",
            )
        for thread in (one, other):
            review = memory.review("deploy", thread_id=thread, review_id=f"{thread}:1")
            memory.record_success("deploy", "ok", "done", review=review)
        receipt = memory.record_run_outcome(thread_id=one, success=False, outcome="lost")
        episodes = memory.store.list(memory.namespace)
        threads = {e.provenance["thread_id"] for e in episodes if "thread_id" in e.provenance}
        assert len(threads) == 2
        assert receipt["status"] == "stored"
        assert receipt["actions"] == 1
        assert len(episodes) == 4
        assert memory.forget(f"{one}:call") == 1
        written = b"".join(file.read_bytes() for file in tmp_path.iterdir())
    assert b"swordfish" not in written
    assert KEY.encode() not in written


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
