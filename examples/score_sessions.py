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

# %% [markdown]
# What came up most often, by kind and cause:

# %%
causes = Counter((each.kind, each.cause or each.subject) for one in troubles for each in one.troubles)
for (kind, cause), count in causes.most_common():
    print(f"{count:>3}  {kind} ({cause})")
