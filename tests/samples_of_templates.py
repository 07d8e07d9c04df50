"""A template as the tests need one."""

from whet.own.examples.templates import Example, Template
from whet.sessions.activity import Activity

LOOK = Example("read_file", '{"path":"plan.md"}', "3 lines", "Look at the plan.", "s1", 2, "exit code 0")
RUN = Example("terminal", '{"command":"pytest -q"}', "12 passed", session="s2")
TEMPLATE = Template("garden-work", (LOOK, RUN), Activity.CODE, "how", ("garden",), created=5.0)
