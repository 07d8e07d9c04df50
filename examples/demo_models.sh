# For the demonstrations: how they show commands; and model files, downloaded once and kept between runs in .demo/models (WHET_DEMO_MODELS).
KEPT_MODELS=${WHET_DEMO_MODELS:-$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)/.demo/models}

LARGE=Qwen2.5-Coder-1.5B-Instruct # the smallest model that was seen to follow a rule

fetch_model() { # its name, and what `whet models pull` needs to know of it
    local file=$WHET_HOME/models/$1.gguf kept=$KEPT_MODELS/$1.gguf
    shift
    mkdir -p "$KEPT_MODELS" "$WHET_HOME/models"
    if [[ -f $kept ]]; then
        echo "The model is here already, from an earlier run: $kept"
        cp "$kept" "$file"
    else
        step whet models pull "$@" || return
        cp "$file" "$kept.part" && mv "$kept.part" "$kept"
    fi
}

step() {
    printf '\n\033[1m$ %s\033[0m\n' "$*"
    "$@"
}
part() { # the first lines of what a command prints, and how many there are more
    local lines=$1
    shift
    step "$@" | awk -v most="$((lines + 2))" 'NR <= most; END { if (NR > most) printf "… %d more lines\n", NR - most }'
}
# What only a person may do asks for a terminal. The demonstration plays a person, and so sits at one, also where its
# own output goes to a file or a pipe. What the person types is its input.
at_a_terminal() {
    printf '\n\033[1m$ %s\033[0m\n' "$*"
    python -c 'import pty, sys; sys.exit(pty.spawn(sys.argv[1:]) != 0)' "$@"
}
# Of a text that is shown to be approved, the first lines: the rest was read above.
first_of_text() {
    awk '/[│↪]/ { if (++lines > 4) { left++; next } } left && !/[│↪]/ { printf "  … %d more lines\n", left; left = 0 } { print }'
}
