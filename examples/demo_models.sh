# For the demonstrations: model files, downloaded once and kept between runs in .demo/models (WHET_DEMO_MODELS).
KEPT_MODELS=${WHET_DEMO_MODELS:-$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)/.demo/models}

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
