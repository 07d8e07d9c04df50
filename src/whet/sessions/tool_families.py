"""A tool as its model knows it, what a call of it was given, and what it is for: its family, by name and arguments."""

from collections.abc import Iterable
from enum import StrEnum
from functools import lru_cache
from typing import Any

import msgspec

from whet.sessions.transcripts import ToolCall
from whet.sessions.trust import Trust
from whet.text.words import names, plain_name
from whet.values import Value

PREFIX = "mcp__"  # of the names of tools that MCP servers offer

JSON_TYPES: tuple[tuple[type, str], ...] = (
    (bool, "boolean"), (int, "integer"), (float, "number"), (str, "string"), (list, "array"), (dict, "object"),
)  # fmt: skip


class Definition(Value, frozen=True):
    """A tool as its model knows it. `parameters` is the JSON text of its schema."""

    name: str
    description: str = ""
    parameters: str = "{}"


def trust_of_shown(definitions: Iterable[Definition]) -> Trust:
    """How far the descriptions and schemas that a model reads may be believed: a server's are a stranger's words."""
    foreign = any(definition.name.startswith(PREFIX) for definition in definitions)
    return Trust.EXTERNAL if foreign else Trust.OPERATOR


def seen(name: str, calls: Iterable[ToolCall]) -> Definition:
    """A tool by the arguments that it was called with."""
    given = [arguments_of(call) for call in calls if call.name == name]
    properties: dict[str, Any] = {}
    for arguments in given:
        for key, value in arguments.items():
            kind = next((word for known, word in JSON_TYPES if isinstance(value, known)), "")
            properties.setdefault(key, {"type": kind} if kind else {})
    always = [key for key in properties if all(key in arguments for arguments in given)]
    schema = {"type": "object", "properties": properties, "required": always}
    return Definition(name, name.replace("_", " "), msgspec.json.encode(schema).decode())


class Family(StrEnum):
    """Tools that answer, and fail, in the same way."""

    SHELL = "shell"
    INTERPRETER = "interpreter"
    SQL = "sql"
    READ = "read"
    SEARCH = "search"  # looks through files for a text or a name
    WRITE = "write"  # makes or changes files as a whole: creates, moves, deletes
    EDIT = "edit"  # changes code in place: replacements and patches
    DEVELOP = "develop"  # builds, tests, versions: the rest of a programmer's work
    FETCH = "fetch"  # pages and what stands on them
    LOOKUP = "lookup"  # asks an engine or a service for what it knows
    DELEGATE = "delegate"
    NEUTRAL = "neutral"  # plans, notes, questions: says nothing of the work itself
    OTHER = "other"


# The names as the agents' own documentation has them, in lower case with single underscores.
NAMES: dict[Family, frozenset[str]] = {
    Family.SHELL: names(
        "bash shell terminal exec_command local_shell local_shell_call run_shell_command execute_bash run_command "
        "execute_command run_in_terminal bash_output write_stdin container_exec shell_command cmd powershell "
        "run_terminal_cmd run_terminal_command bash_command execute_shell run_bash command_line cmd_run process "
        "read_bash write_bash stop_bash get_terminal_output send_command_input run_terminal terminal_execute "
        "power_shell developer_shell bash_tool command_status send_keys keystrokes"
    ),
    Family.INTERPRETER: names(
        "execute_code python run_python ipython execute_ipython_cell ipython_run_cell code_interpreter repl "
        "python_interpreter run_code jupyter python_exec execute_python code_execution notebook_execute "
        "javascript_repl run_javascript execute_python_code run_ipython"
    ),
    Family.SQL: names("execute_sql run_sql sql_query query_database sql execute_query read_query"),
    Family.READ: names(
        "read read_file read_many_files view view_image open_file cat_file get_file_contents read_text_file "
        "read_multiple_files notebook_read read_files view_file open file_read read_media_file readfile "
        "view_files fs_read read_notebook_cell_output goto scroll_down scroll_up"
    ),
    Family.SEARCH: names(
        "grep glob ls list_dir list_directory search_files search_file_content grep_search file_search find_files "
        "list_files directory_tree search_file search_dir find_file codebase_search semantic_search glob_search "
        "list_code_definition_names code_search get_file_info glob_files list_allowed_directories find "
        "find_by_name view_directory repo_map search_code"
    ),
    Family.WRITE: names(
        "write write_file create_file create write_to_file save_file delete_file move_file copy_file "
        "create_directory append_to_file mkdir remove_file rename_file file_write fs_write delete_path "
        "create_new_file save_to_file"
    ),
    Family.EDIT: names(
        "edit multi_edit multiedit str_replace_editor str_replace_based_edit_tool edit_file patch apply_patch "
        "replace notebook_edit replace_in_file apply_diff search_and_replace insert_edit_into_file "
        "replace_string_in_file insert_content str_replace insert file_edit smart_edit edit_notebook_file "
        "insert_text undo_edit apply_edit replace_string multi_replace_string_in_file text_editor file_editor "
        "edit_block search_replace multi_str_replace developer_text_editor"
    ),
    Family.DEVELOP: names(
        "git_commit git_diff git_status git_log git_add git_push git_checkout run_tests runtests lsp diagnostics "
        "get_errors get_diagnostics run_task create_and_run_task create_pull_request get_changed_files lint "
        "submit build run_notebook_cell test_failure git_show git_branch debug enter_worktree exit_worktree "
        "install_python_packages configure_python_environment get_python_environment_details vscode_get_errors "
        "get_project_setup_info create_new_workspace find_test_files merge_pull_request list_code_usages"
    ),
    Family.FETCH: names(
        "web_fetch webfetch fetch get_webpage open_simple_browser web_extract fetch_webpage browse goto_url "
        "visit_page open_url read_url_content url_fetch scrape crawl browser navigate browser_action "
        "browse_interactive browse_url web_browser read_page browsing fetch_url http_request visit "
        "view_web_document computer computer_use web_crawl"
    ),
    Family.LOOKUP: names(
        "web_search websearch google_web_search search search_web google_search brave_web_search tavily_search "
        "web_search_call x_search arxiv_search wikipedia_search read_wiki_structure read_wiki_contents "
        "ask_question image_search session_search get_library_docs resolve_library_id query_docs deep_research "
        "web_search_preview read_mcp_resource list_mcp_resources"
    ),
    Family.DELEGATE: names(
        "task agent delegate_task spawn_agent dispatch_agent run_subagent wait_agent delegate new_task "
        "mixture_of_agents invoke_subagent send_message subagent"
    ),
    Family.NEUTRAL: names(
        "todo todo_write todowrite todo_read todoread update_plan plan think thinking sequentialthinking "
        "sequential_thinking memory save_memory memory_read ask_user ask_user_question ask_followup_question "
        "clarify question request_user_input exit_plan_mode enter_plan_mode plan_mode_respond task_create "
        "task_update task_list task_get task_stop task_output skill skills skill_view skill_manage skills_list "
        "slash_command report_intent switch_mode attempt_completion finish final_answer complete_task "
        "manage_todo_list tool_search list_tools kill_shell kill_bash sleep wait write_todos view_plan "
        "fetch_rules update_memory condensation task_tracker cron_create cron_list cron_delete cronjob "
        "schedule_wakeup send_user_message notify sleep_for activate_skill fetch_instructions "
        "update_user_preferences get_goal todo_list set_todos exit_spec_mode load_skill warm_session"
    ),
}
FAMILY_OF_NAME = {name: family for family, names in NAMES.items() for name in names}
FAMILY_OF_PREFIX = (
    ("browser_", Family.FETCH),
    ("puppeteer_", Family.FETCH),
    ("playwright_", Family.FETCH),
    ("git_", Family.DEVELOP),
    ("lsp_", Family.DEVELOP),
    ("todo_", Family.NEUTRAL),
    ("memory_", Family.NEUTRAL),
)


@lru_cache(maxsize=4096)
def name_words(name: str) -> tuple[frozenset[str], ...]:
    """The words of a name, those of its server first and of the tool itself last."""
    return tuple(frozenset(plain_name(part).split("_")) for part in name.split("__") if part and part != "mcp") or (
        frozenset[str](),
    )


def family_of(call: ToolCall) -> Family:
    """The family of a call: by its known name, else by the prefix of a tool set, else other."""
    return _family_named(call.name)


@lru_cache(maxsize=4096)
def _family_named(tool: str) -> Family:
    name = plain_name(tool)
    known = FAMILY_OF_NAME.get(name)
    if known is not None:
        return known
    return next((family for prefix, family in FAMILY_OF_PREFIX if name.startswith(prefix)), Family.OTHER)


def object_of(call: ToolCall) -> dict[str, Any] | None:
    """The call's arguments by name, or None where they are not one JSON object."""
    found = _decoded(call.arguments)
    return None if found is None else dict(found)


# Outcome, effect, activity and the files written each ask for the same arguments.
@lru_cache(maxsize=1024)
def _decoded(text: str) -> dict[str, Any] | None:
    try:
        arguments = msgspec.json.decode(text)
    except (msgspec.DecodeError, ValueError, RecursionError):
        return None
    return arguments if isinstance(arguments, dict) else None


def arguments_of(call: ToolCall) -> dict[str, Any]:
    """The call's arguments by name, or nothing where they are not one JSON object."""
    return object_of(call) or {}


def command_of(call: ToolCall) -> str:
    """The command line or code that a call runs, or nothing."""
    return _command(call.arguments)


@lru_cache(maxsize=1024)
def _command(text: str) -> str:
    arguments = _decoded(text) or {}
    for key in ("command", "cmd", "script", "code", "commands", "keystrokes", "chars", "input"):
        value = arguments.get(key)
        if isinstance(value, str) and value:
            return value
        if isinstance(value, list) and value:
            return _argv(value)
    return "" if arguments else text


def _argv(words: list[object]) -> str:
    """A command given as a list: the script of `bash -lc SCRIPT`, else its words."""
    texts = [word for word in words if isinstance(word, str)]
    if len(texts) == 3 and texts[1].startswith("-") and texts[1].endswith("c"):
        return texts[2]
    return " ".join(texts)
