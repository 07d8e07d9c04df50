"""The environment that commands of the agent see: what programs need to run, by name, and nothing that is secret."""

import sys
from collections.abc import Iterable, Mapping
from pathlib import Path

from whet.secrets.looks import is_key_name, is_secret_name
from whet.secrets.redactor import Redactor
from whet.text.words import names

# Who and where one is, and how texts and times are written. All that begins with LC_ besides.
USUAL = names("HOME USER LOGNAME SHELL HOSTNAME LANG LANGUAGE TZ COLUMNS LINES CI SOURCE_DATE_EPOCH")
# Where languages and their tools are installed and find their libraries, and how they build.
TOOLCHAINS = names(
    "VIRTUAL_ENV CONDA_PREFIX CONDA_DEFAULT_ENV CONDA_EXE PYTHONPATH PYTHONIOENCODING PYTHONUTF8 PYTHONHASHSEED"
    " PYTHONDONTWRITEBYTECODE PYTHONWARNINGS PYENV_ROOT PYENV_VERSION UV_PYTHON UV_PROJECT_ENVIRONMENT PIPX_HOME"
    " NODE_PATH NODE_ENV NVM_DIR NVM_BIN FNM_DIR FNM_MULTISHELL_PATH VOLTA_HOME N_PREFIX PNPM_HOME BUN_INSTALL"
    " DENO_DIR DENO_INSTALL COREPACK_HOME GOPATH GOROOT GOBIN GOCACHE GOMODCACHE GOTOOLCHAIN GOFLAGS GOPROXY"
    " GOPRIVATE GONOSUMDB GONOPROXY GOOS GOARCH CGO_ENABLED CARGO_HOME CARGO_TARGET_DIR CARGO_BUILD_JOBS RUSTUP_HOME"
    " RUSTUP_TOOLCHAIN RUSTFLAGS RUST_BACKTRACE JAVA_HOME JDK_HOME JRE_HOME GRADLE_HOME GRADLE_USER_HOME MAVEN_HOME"
    " M2_HOME ANT_HOME SDKMAN_DIR KOTLIN_HOME SCALA_HOME SBT_HOME ANDROID_HOME ANDROID_SDK_ROOT ANDROID_NDK_HOME"
    " ANDROID_NDK_ROOT GEM_HOME GEM_PATH BUNDLE_PATH BUNDLE_GEMFILE RBENV_ROOT RBENV_VERSION RUBYLIB PERL5LIB"
    " PERL_LOCAL_LIB_ROOT LUA_PATH LUA_CPATH COMPOSER_HOME PHPRC DOTNET_ROOT DOTNET_CLI_HOME NUGET_PACKAGES OPAMROOT"
    " OPAMSWITCH OPAM_SWITCH_PREFIX OCAMLPATH CAML_LD_LIBRARY_PATH STACK_ROOT CABAL_DIR GHCUP_INSTALL_BASE_PREFIX"
    " ERL_LIBS MIX_HOME MIX_ENV HEX_HOME JULIA_DEPOT_PATH JULIA_PROJECT R_HOME R_LIBS R_LIBS_USER ASDF_DIR"
    " ASDF_DATA_DIR MISE_DATA_DIR NIX_PATH NIX_PROFILES XDG_DATA_DIRS XDG_CONFIG_DIRS HOMEBREW_PREFIX"
    " HOMEBREW_CELLAR HOMEBREW_REPOSITORY EMSDK CUDA_HOME CUDA_PATH CUDA_VISIBLE_DEVICES ROCM_PATH OMP_NUM_THREADS"
    " MKL_NUM_THREADS OPENBLAS_NUM_THREADS CC CXX CPP LD AR AS NM FC CFLAGS CXXFLAGS CPPFLAGS LDFLAGS MAKEFLAGS"
    " CMAKE_PREFIX_PATH CMAKE_GENERATOR PKG_CONFIG_PATH CPATH C_INCLUDE_PATH CPLUS_INCLUDE_PATH LIBRARY_PATH SDKROOT"
    " DEVELOPER_DIR MANPATH INFOPATH SSL_CERT_FILE SSL_CERT_DIR REQUESTS_CA_BUNDLE CURL_CA_BUNDLE"
    " NODE_EXTRA_CA_CERTS"
)
PROXIES = names("http_proxy https_proxy ftp_proxy all_proxy no_proxy")
FIXED = {
    "PAGER": "cat",
    "GIT_PAGER": "cat",
    "GIT_TERMINAL_PROMPT": "0",
    "GIT_EDITOR": "false",
    "TERM": "dumb",
    "NO_COLOR": "1",
    "HISTFILE": "/dev/null",
    "DEBIAN_FRONTEND": "noninteractive",
    "PYTHONUNBUFFERED": "1",
}
DEFAULT_PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"


def cleaned(
    environment: Mapping[str, str], *, session: str, temporary: str, network: bool = False, kept: Iterable[str] = ()
) -> dict[str, str]:
    """The variables for commands: those that are known to be needed, and those that the person names in `kept`."""
    chosen = frozenset(kept)
    found = {
        name: value
        for name, value in environment.items()
        if name in chosen or (is_known(name, network=network) and not looks_secret(name, value))
    }
    return {
        **found,
        **FIXED,
        "PATH": safe_path(environment.get("PATH", "")),
        "TMPDIR": temporary,
        "XDG_CACHE_HOME": f"{temporary}/cache",
        "npm_config_cache": f"{temporary}/cache/npm",
        "WHET_RUN": session,  # so that `whet` itself knows that an agent is at the command line
    }


def is_known(name: str, *, network: bool) -> bool:
    """Whether programs need a variable of this name."""
    return name in USUAL or name in TOOLCHAINS or name.startswith("LC_") or (network and name.lower() in PROXIES)


def looks_secret(name: str, value: str) -> bool:
    """Whether a variable looks like a secret, by its name or by its value: a proxy's address may hold a password."""
    if is_secret_name(name) or is_key_name(name):
        return True
    return Redactor().text(value) != value or Redactor().text(f"{name}={value}") != f"{name}={value}"


def safe_path(path: str) -> str:
    """The search path without relative entries, by which a file in the working folder would pose as a program."""
    entries = [entry for entry in path.split(":") if entry.startswith("/")]
    return ":".join(entries) or DEFAULT_PATH


def installations(path: str) -> tuple[Path, ...]:
    """Where the programs of the search path are installed, with what they need: the folder around each `bin`."""
    places = [Path(entry) for entry in safe_path(path).split(":")]
    around = [place.parent for place in places if place.name == "bin"]
    return tuple(dict.fromkeys((*places, *around, Path(sys.prefix), Path(sys.base_prefix))))
