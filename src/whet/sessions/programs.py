"""Programs that developers run, and the words of every shell: what a line's first word is, and what it starts."""

from whet.text.words import names

CHECKERS = names(
    "pytest unittest jest vitest mocha ava tap rspec phpunit ctest tox nox tsc mypy pyright pyre ruff flake8 "
    "pylint eslint biome prettier stylelint shellcheck clippy golangci-lint rubocop black isort make ninja cmake "
    "gradle gradlew mvn mvnw ant bazel playwright cypress knip rustc gcc g++ clang javac pre-commit lint-staged "
    "nextest vet swiftlint ktlint detekt checkstyle dart-analyze hadolint tflint yamllint markdownlint "
    "markdownlint-cli2 vale oxlint deptry bandit semgrep hlint credo dialyzer scalafmt spotless karma jasmine "
    "busted luacheck"
)
# What runs the programs, tests and scripts of a project.
RUNNERS = names(
    "npm pnpm yarn bun bunx npx deno cargo go dotnet swift mix rake bundle uv uvx poetry python python3 just task mise "
    "turbo nx lerna moon rush hatch pdm pipenv rye tox-uv docker docker-compose podman nerdctl flutter dart composer "
    "php artisan rails sbt mill lein stack cabal zig earthly dagger invoke inv doit xcodebuild fastlane"
)
# What keeps versions, and talks to where they are kept.
VERSIONING = names("git gh glab hg jj svn")
# Other programs have orders of these names.
USUAL_ORDERS = names("go task just stack mix make black tap moon rush vet mill invoke ant vale swift busted")
STARTED = (CHECKERS | RUNNERS | VERSIONING) - USUAL_ORDERS
# The utilities of POSIX and the shells' own words: a program's name behind one of them is only a name.
UTILITIES = names(
    "alias ar at awk basename batch bc bg break cal case cat cd chgrp chmod chown cksum cmp comm command compress "
    "continue cp crontab csplit cut date dd declare df diff dirname du echo ed egrep eval exec exit expand export "
    "expr false fc fg fgrep file find fold for function getconf getopts grep hash head help history iconv id in "
    "info ipcs jobs join kill killall let link ln local locale locate logger logname lp ls m4 mailx man mkdir "
    "mkfifo more mv newgrp nice nl nm nohup od paste patch pathchk pax pgrep pkill popd pr printenv printf ps "
    "pushd pwd read readonly renice return rm rmdir sed select set shift sh sleep sort source split strings strip "
    "stty tabs tail talk tee test time touch tput tr trap true tsort tty type ulimit umask unalias uname "
    "uncompress unexpand uniq unlink unset vi wait wc whatis whereis which who write xargs zcat . [ [["
)
