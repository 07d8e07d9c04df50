# %% [markdown]
# # Which sessions went wrong, and why?
#
# A notebook as a plain file: open it in VS Code or Jupyter (with jupytext), or run it from the folder of the project
# with `python examples/score_sessions.py`. It needs no model, and nothing leaves your machine.

# %%
from collections import Counter

import whet

FOLDER = "examples/sessions"  # yours may be "~/.claude/projects" or "~/.codex/sessions"

found = list(whet.read(FOLDER))
sessions = [each for each in found if isinstance(each, whet.Transcript)]
print(f"{len(sessions)} sessions; {len(found) - len(sessions)} files or lines could not be read")

# %% [markdown]
# Where the time went: what each session lost to what bought nothing, the dearest first.

# %%
troubles = sorted(map(whet.troubles, sessions), key=lambda one: -one.lost_seconds)
for one in troubles[:5]:
    dearest = one.dearest
    where = f" (message {dearest.first}: {dearest.kind}, {dearest.cause or dearest.subject})" if dearest else ""
    print(f"{one.lost_seconds:>5.0f} of {one.agent_seconds:.0f} s  {one.source:<12}{where}")

analyses = [whet.analyse(session) for session in sessions]

# %% [markdown]
# What went wrong most often, and whose fault it was:

# %%
kinds = Counter((signal.kind, signal.cause.value) for one in analyses for signal in one.signals)
for (kind, cause), count in kinds.most_common():
    print(f"{count:>3}  {kind} ({cause})")

# %% [markdown]
# What recurs over at least three sessions is a lesson. In the sessions that come with Whet it is one: tests that only
# the project's own script can run.

# %%
lessons = whet.distill(analyses)
for lesson in lessons:
    print(f"{lesson.sessions} of {lesson.base} sessions: {lesson.kind} with {lesson.tool}: {lesson.fingerprint}")
print(f"Lessons: {len(lessons)}")
