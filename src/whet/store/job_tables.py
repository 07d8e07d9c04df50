"""The tables of jobs, with `{word}` where the dialects differ."""

JOBS = (
    """CREATE TABLE job_marks (
        home TEXT NOT NULL,
        job TEXT NOT NULL,
        schedule TEXT NOT NULL,
        accounted {real} NOT NULL,
        made {number} NOT NULL,
        PRIMARY KEY (home, job)
    )""",
    """CREATE TABLE job_runs (
        id TEXT PRIMARY KEY,
        home TEXT NOT NULL,
        job TEXT NOT NULL,
        scheduled {real} NOT NULL,
        state TEXT NOT NULL,
        handing TEXT NOT NULL,
        body {bytes} NOT NULL
    )""",
    "CREATE INDEX job_runs_by_job ON job_runs (home, job, scheduled)",
)

JOBS_ADDED = (
    "ALTER TABLE job_marks ADD COLUMN added {real} NOT NULL DEFAULT 0",
    "UPDATE job_marks SET"
    " added = CAST(substr(schedule, length(rtrim(schedule, replace(schedule, ' ', ''))) + 1) AS {real}),"
    " schedule = rtrim(rtrim(schedule, replace(schedule, ' ', ''))) WHERE schedule <> ''",
)
