"""Writes sessions/hermes/state.db, the example of Hermes' database, in the tables of its schema version 30."""

import json
from pathlib import Path

import apsw

HERE = Path(__file__).parent / "sessions" / "hermes"
START = 1_772_870_400.0
SCHEMA = """
    CREATE TABLE schema_version (version INTEGER NOT NULL);
    CREATE TABLE system_prompts (hash TEXT PRIMARY KEY, prompt TEXT NOT NULL);
    CREATE TABLE sessions (
        id TEXT PRIMARY KEY, source TEXT NOT NULL, model TEXT, model_config TEXT, system_prompt TEXT,
        system_prompt_hash TEXT, parent_session_id TEXT, started_at REAL NOT NULL, ended_at REAL, end_reason TEXT,
        input_tokens INTEGER DEFAULT 0, output_tokens INTEGER DEFAULT 0, cache_read_tokens INTEGER DEFAULT 0,
        cache_write_tokens INTEGER DEFAULT 0, cwd TEXT, git_branch TEXT, actual_cost_usd REAL, title TEXT,
        tool_names TEXT
    );
    CREATE TABLE messages (
        id INTEGER PRIMARY KEY AUTOINCREMENT, session_id TEXT NOT NULL, role TEXT NOT NULL, content TEXT,
        tool_call_id TEXT, tool_calls TEXT, tool_name TEXT, effect_disposition TEXT, timestamp REAL NOT NULL,
        token_count INTEGER, finish_reason TEXT, reasoning TEXT, reasoning_content TEXT, observed INTEGER DEFAULT 0,
        _compressed_summary INTEGER NOT NULL DEFAULT 0, active INTEGER NOT NULL DEFAULT 1,
        compacted INTEGER NOT NULL DEFAULT 0, api_content TEXT, display_kind TEXT
    );
    CREATE INDEX idx_messages_session_id ON messages(session_id, id);
    INSERT INTO schema_version VALUES (30);
    INSERT INTO system_prompts VALUES ('6f1d0c2ab9e4', 'You are Hermes, the assistant of Ada.');
"""
NGINX, NIGHTLY = "20260307_080000_3f9a1c", "20260307_210000_cron07"


def call(call_id: str, name: str, **arguments: object) -> tuple[str, str, dict[str, object]]:
    """An assistant's row with one call."""
    asked = {"id": call_id, "type": "function", "function": {"name": name, "arguments": json.dumps(arguments)}}
    return "assistant", "", {"tool_calls": json.dumps([asked]), "finish_reason": "tool_calls"}


def result(call_id: str, name: str, **content: object) -> tuple[str, str, dict[str, object]]:
    return "tool", json.dumps(content), {"tool_call_id": call_id, "tool_name": name}


def said(role: str, words: str, **values: object) -> tuple[str, str, dict[str, object]]:
    return role, words, values


ROWS = {
    NGINX: (
        said("user", "The shop answers with 502 since this morning's deploy. Find out why and fix it."),
        call("call_1", "terminal", command="systemctl status shop --no-pager"),
        result("call_1", "terminal", output="Active: active (running)", exit_code=0, error=None),
        call("call_2", "terminal", command="tail -5 /var/log/nginx/error.log"),
        result("call_2", "terminal", output="tail: cannot open: Permission denied", exit_code=1, error=None),
        call("call_3", "terminal", command="sudo tail -5 /var/log/nginx/error.log"),
        (
            "tool",
            json.dumps({"output": "", "exit_code": -1, "error": "BLOCKED: needs approval", "status": "blocked"}),
            {"tool_call_id": "call_3", "tool_name": "terminal", "effect_disposition": "none"},
        ),
        said("assistant", "I may not read the log of nginx. Shall I compare the ports in the two configurations?"),
        said("user", "Yes. And never use sudo here, I said so last week."),
        call("call_4", "search_files", pattern="proxy_pass|PORT=", path="/etc/nginx/conf.d"),
        result("call_4", "search_files", matches=["shop.conf:7: proxy_pass http://127.0.0.1:8000;"]),
        call("call_5", "terminal", command="systemctl show shop -p Environment"),
        result("call_5", "terminal", output="Environment=PORT=8080", exit_code=0, error=None),
        call("call_6", "patch", path="deploy/shop.service", old_string="PORT=8080", new_string="PORT=8000"),
        result("call_6", "patch", success=True, diff="-PORT=8080\n+PORT=8000"),
        call("call_7", "terminal", command="make deploy && curl -s -o /dev/null -w '%{http_code}' localhost"),
        result("call_7", "terminal", output="200", exit_code=0, error=None),
        said("assistant", "The deploy had moved the shop to port 8080, nginx asks 8000. It is back on 8000: 200."),
    ),
    NIGHTLY: (
        said("user", "[IMPORTANT: You are running as a scheduled job.] Check that last night's backup can be read."),
        call("call_1", "terminal", command="restic check --read-data-subset=5%"),
        result("call_1", "terminal", output="", exit_code=124, error="Command timed out after 180s"),
        call("call_2", "terminal", command="restic check --read-data-subset=5%"),
        result("call_2", "terminal", output="", exit_code=124, error="Command timed out after 180s"),
        call("call_3", "terminal", command="restic check --read-data-subset=1%", timeout=600),
        result("call_3", "terminal", output="no errors were found", exit_code=0, error=None),
        said("assistant", "The backup is sound: 1 % of it was read without an error. 5 % takes longer than allowed."),
    ),
}


def main() -> None:
    path = HERE / "state.db"
    path.unlink(missing_ok=True)
    HERE.mkdir(parents=True, exist_ok=True)
    connection = apsw.Connection(str(path))
    connection.execute("PRAGMA page_size = 1024")
    connection.execute(SCHEMA)
    for place, (session, rows) in enumerate(ROWS.items()):
        begun = START + place * 46_800
        job = session == NIGHTLY
        connection.execute(
            "INSERT INTO sessions (id, source, model, system_prompt_hash, started_at, ended_at, end_reason,"
            " input_tokens, output_tokens, cache_read_tokens, cwd, title, tool_names, actual_cost_usd)"
            " VALUES (?, ?, 'hermes-4-70b', '6f1d0c2ab9e4', ?, ?, ?, 2400, 610, 31800, '/srv/shop', ?, ?, 0.011)",
            (
                session,
                "cron" if job else "cli",
                begun,
                begun + 20 * len(rows),
                "cron_complete" if job else "cli_close",
                "Nightly check of the backup" if job else "502 after the deploy",
                '["terminal", "search_files", "patch"]',
            ),
        )
        for index, (role, words, values) in enumerate(rows):
            row = {"session_id": session, "role": role, "content": words, "timestamp": begun + 20 * index, **values}
            marks = ", ".join("?" * len(row))
            connection.execute(f"INSERT INTO messages ({', '.join(row)}) VALUES ({marks})", tuple(row.values()))
    connection.close()


if __name__ == "__main__":
    main()
