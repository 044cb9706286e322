"""Files that start code or configure programs: never written, or only once a person approves."""

from __future__ import annotations

import json
import os

import pytest

from jupyter_fstools.errors import InputOutput
from jupyter_fstools.gate.policy import Policy
from jupyter_fstools.gate.startup_files import startup_places
from jupyter_fstools.journal.journal import Journal

DENIED = [
    # Beside the best known: other shells, packages instead of modules, other languages' shells
    ".config/elvish/rc.elv",
    ".elvish/rc.elv",
    ".direnvrc",
    "lib/sitecustomize/__init__.py",
    "usercustomize/__init__.py",
    ".config/ptpython/config.py",
    "ipcluster_config.py",
    ".config/user-dirs.dirs",
    ".config/sxhkd/sxhkdrc",
    ".iex.exs",
    ".sbclrc",
    ".lein/profiles.clj",
    # Jupyter and IPython
    ".jupyter/jupyter_server_config.py",
    ".jupyter/jupyter_server_config.d/evil.json",
    ".jupyter/custom/custom.js",
    ".jupyter/labconfig/page_config.json",
    ".jupyter/lab/user-settings/x.jupyterlab-settings",
    "jupyter_config.json",
    "work/jupyter_lab_config.py",
    "work/jupyter_notebook_config.json",
    "env/etc/jupyter/jupyter_server_config.d/x.json",
    "env/etc/jupyter/labconfig/page_config.json",
    ".ipython/profile_default/ipython_config.py",
    ".ipython/profile_default/ipython_config.json",
    ".ipython/profile_default/ipython_kernel_config.json",
    ".ipython/profile_default/startup/00.py",
    ".ipython/profile_default/startup/00.ipy",
    ".ipython/extensions/evil.py",
    ".config/ipython/extensions/evil.py",
    "elsewhere/profile_x/startup/00.ipy",
    "ipython_config.py",
    ".local/share/jupyter/kernels/evil/kernel.json",
    "share/jupyter/kernels/evil/kernel.json",
    ".local/share/jupyter/labextensions/evil/package.json",
    "Library/Jupyter/kernels/x/kernel.js",
    # Shells
    ".bashrc",
    ".bash_profile",
    ".bash_login",
    ".bash_logout",
    ".bash_aliases",
    ".profile",
    ".inputrc",
    ".zshrc",
    ".zshenv",
    ".zprofile",
    ".zlogin",
    ".zlogout",
    ".cshrc",
    ".tcshrc",
    ".kshrc",
    ".xonshrc",
    ".xprofile",
    ".pam_environment",
    ".config/fish/config.fish",
    ".config/fish/conf.d/x.fish",
    ".config/powershell/profile.ps1",
    "Documents/PowerShell/Microsoft.PowerShell_profile.ps1",
    ".bashrc.d/evil.sh",
    ".p10k.zsh",
    ".local/share/fish/vendor_conf.d/x.fish",
    # Python
    ".local/lib/python3.13/site-packages/x.pth",
    "env/lib/python3.13/site-packages/evil.pth",
    "sitecustomize.py",
    "src/usercustomize.py",
    ".pypirc",
    ".config/pip/pip.conf",
    "env/pyvenv.cfg",
    "python313._pth",
    "lib/sitecustomize.cpython-313-x86_64-linux-gnu.so",
    ".config/dask/preload.yaml",
    # Sourced by scripts
    ".selected_editor",
    ".modulerc.lua",
    # Version control
    "any/HEAD",
    "head/HEAD",
    ".zsh/head/x",
    ".git/hooks/pre-commit",
    "sub/.git/config",
    "bare.git/hooks/post-receive",
    ".gitconfig",
    ".config/git/config",
    ".hg/hgrc",
    # Desktop and system
    ".local/bin/ls",
    ".config/autostart/x.desktop",
    ".vnc/xstartup",
    ".config/tigervnc/xstartup",
    ".i3/config",
    ".local/share/gnome-shell/extensions/x/extension.js",
    ".config/systemd/user/x.service",
    ".config/environment.d/x.conf",
    ".local/share/applications/x.desktop",
    "Library/LaunchAgents/x.plist",
    "etc/cron.d/x",
    "var/spool/cron/crontabs/me",
    ".forward",
    # Files of installers that are on the PATH or set it
    ".cargo/bin/cargo",
    ".cargo/env",
    ".pyenv/shims/python",
    ".nvm/nvm.sh",
    ".local/share/uv/tools/x/bin/y",
    "AppData/Roaming/npm/x.cmd",
    # Editors, clients and assistants
    ".vimrc",
    "_vimrc",
    ".nanorc",
    ".muttrc",
    ".ghci",
    ".ocamlinit",
    ".octaverc",
    ".sage/init.sage",
    ".m2/settings.xml",
    ".gradle/init.d/x.gradle",
    ".julia/config/startup.jl",
    ".config/mpv/scripts/x.lua",
    ".local/share/nvim/site/plugin/x.lua",
    "Library/Application Support/Code/User/settings.json",
    ".emacs.d/init.el",
    ".config/nvim/init.lua",
    ".config/Code/User/settings.json",
    ".config/Windsurf/User/settings.json",
    "AppData/Roaming/Trae/User/mcp.json",
    "Library/Application Support/Kiro/User/settings.json",
    ".kube/config",
    ".aws/config",
    ".docker/config.json",
    ".claude.json",
    "Library/Application Support/Claude/claude_desktop_config.json",
]
ASKED = [
    "env/etc/conda/activate.d/x.sh",
    "env/conda-meta/state",
    ".pdbrc.py",
    ".venv/bin/activate",
    "venv/Scripts/Activate.ps1",
    ".kilocode/mcp.json",
    ".factory/mcp.json",
    "crush.json",
    ".vscode/tasks.json",
    "project/.vscode/settings.json",
    "x.code-workspace",
    "x.sublime-project",
    ".theia/tasks.json",
    ".local.vimrc",
    "mise.toml",
    ".yarn/releases/yarn.cjs",
    ".devcontainer/devcontainer.json",
    ".idea/workspace.xml",
    ".envrc",
    ".mise.toml",
    ".gdbinit",
    ".Rprofile",
    ".npmrc",
    ".yarnrc.yml",
    ".cargo/config.toml",
    ".gitmodules",
    ".husky/pre-commit",
    ".pre-commit-config.yaml",
    "crontab",
    "share/app.desktop",
    ".mcp.json",
    ".claude/settings.json",
    ".cursor/mcp.json",
    ".codex/config.toml",
    ".gemini/settings.json",
    ".continue/config.yaml",
    ".github/hooks/before.json",
    ".github/lsp.json",
    "env/lib/python3.13/site-packages/package/module.py",
    "share/jupyter/lab/settings/overrides.json",
]
ORDINARY = [
    "bin/activate-users.sh",
    "src/sitecustomize_test.py",
    "my_ipcluster_config.py",
    "docs/crush.md",
    "direnvrc.md",
    ".env",
    ".config/app.toml",
    ".config/gitui/theme.ron",
    ".local/share/notes.txt",
    ".gitignore",
    ".gitattributes",
    ".editorconfig",
    ".github/workflows/test.yml",
    ".github/copilot-instructions.md",
    "hooks/before.json",
    "lsp.json",
    ".vscode/extensions.json",
    "vscode/tasks.json",
    "bashrc",
    "docs/.bashrc.md",
    "my.zshrc",
    ".envrc.example",
    "jupyter_config_notes.py",
    "jupyterlab_config.md",
    "my_jupyter_config.py",
    "ipython_notes.py",
    "ipython_config.py.md",
    "profile_x/start/00.py",
    "startup/00.py",
    "kernel.json",
    "kernels/gauss.json",
    "kernels/gauss/kernel.cu",
    "git/config",
    "digit/hooks/x",
    "gitconfig",
    "local/bin/tool.py",
    "bin/tool.sh",
    "sitecustomize_test.py",
    "pth/model.py",
    "model.pth.md",
    "crontab.md",
    "cron/d/x",
    "profile.py",
    "pip.md",
    "claude/notes.md",
    "claude.json",
    "mcp.json",
    "CLAUDE.md",
    "AGENTS.md",
    "components/Head/index.tsx",
    "head.py",
    "cursor/x.py",
    "npmrc",
    "docker/config.json",
    "kube/config",
    "etc/app/config.d/x.json",
    "packages/site.py",
    "cargo/bin/tool.rs",
    ".gradle/notes.md",
    "go/bin/tool.go",
    "conftest.py",
    "Makefile",
    "nanorc",
    "Code/User/settings.json",
    "uv.toml",
]
NOTEBOOK = json.dumps({"cells": [], "metadata": {}, "nbformat": 4, "nbformat_minor": 5})


def attacks(path):
    return [
        ("write_file", {"path": path, "content": "evil"}),
        ("edit_file", {"path": path, "old_string": "x", "new_string": "evil"}),
        ("edit_file", {"path": path, "edits": [{"old_string": "x", "new_string": "evil"}], "if_stale": "match"}),
    ]


@pytest.mark.parametrize("path", DENIED)
def test_a_file_that_starts_code_is_read_but_never_written(call, path):
    for tool, arguments in attacks(path):
        call.refused("denied", tool, **arguments)
    assert os.listdir(call.root) == []
    call.put(path, "x")
    (call.root / "harmless.txt").symlink_to(path)
    for spelled in (path, f"./{path}", f"{call.root}/{path}", path.upper(), "harmless.txt"):
        if spelled != path.upper():
            assert call("read_file", path=spelled, force=True).data["content"].strip() == "x"
        for tool, arguments in attacks(spelled):
            call.refused("denied", tool, **arguments)
    assert call.got(path) == b"x"


@pytest.mark.parametrize("path", ASKED)
def test_such_a_file_of_a_project_waits_for_a_person(call, path):
    made = call("write_file", path=path, content="one\n").change
    assert made.status == "proposed" and os.listdir(call.root) == []
    Journal(call.workspace).approve(made.id)
    assert call.got(path) == b"one\n"
    edited = call("edit_file", path=path, old_string="one", new_string="two").change
    undone = call("undo", change_id=made.id).change
    assert (edited.status, undone.status) == ("proposed", "proposed")
    assert call.got(path) == b"one\n"


@pytest.mark.parametrize("path", ORDINARY)
def test_a_name_that_only_looks_alike_is_a_file_like_any_other(call, path):
    call("write_file", path=path, content="one\n")
    call("edit_file", path=path, old_string="one", new_string="two")
    assert call.got(path) == b"two\n"


@pytest.mark.parametrize("folder", ["", "plain/", "deep/down/"])
def test_hooks_and_settings_of_a_git_repository_of_any_name_are_never_written(call, folder):
    for name in ("hooks/post-receive", "config", "config.worktree", "commondir", "worktrees/a/config.worktree"):
        call("write_file", path=f"{folder}{name}", content="x")
    call.put(f"{folder}rebase-merge/git-rebase-todo", "pick 1")
    for name in ("HEAD", "objects/info/packs", "refs/heads/main"):
        call.put(f"{folder}{name}", "x")
    (call.root / "alias").symlink_to(folder or ".")
    settings = ("config", "commondir", "worktrees/a/config.worktree", "rebase-merge/git-rebase-todo")
    for name in ("hooks/post-receive", "hooks/new", "HOOKS/new", *settings):
        for tool, arguments in (*attacks(f"{folder}{name}"), *attacks(f"alias/{name}")):
            call.refused("denied", tool, **arguments)
    call("write_file", path=f"{folder}description", content="x")
    call("write_file", path="src/hooks/use.ts", content="x")


@pytest.mark.parametrize("target", [None, "refs/heads/main", "refs/heads"])
def test_a_folder_with_a_head_gets_no_settings_before_it_has_the_rest_of_a_repository(call, target):
    head = call.put("plain/logs/HEAD", "0" * 40)  # The log of a repository's HEAD, which git takes for a HEAD.
    if target:
        call.put("plain/logs/refs/heads/other", "x")
        head.unlink()
        head.symlink_to(target)
    (call.root / "alias").symlink_to("plain/logs")
    for folder in ("plain/logs", "alias"):
        call.refused("denied", "write_file", path=f"{folder}/config", content="evil")


def test_an_ordinary_project_may_have_folders_called_as_those_of_a_repository(call):
    for name in ("objects/x", "refs/x", "HEAD/x"):
        call.put(f"project/{name}", "x")
    (call.root / "alias").symlink_to("project")
    for path in ("project/hooks/use.ts", "project/config", "alias/hooks/more.ts"):
        call("write_file", path=path, content="x")


def test_a_disk_that_fails_while_a_repository_is_looked_for_is_not_called_a_rule(call, monkeypatch):
    stat = call.workspace.backend.stat

    def failing(path):
        if path.endswith("HEAD"):
            raise InputOutput("the store does not answer", hint="Try again later.")
        return stat(path)

    monkeypatch.setattr(call.workspace.backend, "stat", failing)
    call.refused("io", "write_file", path="src/hooks/use.ts", content="x")


def test_hooks_that_are_elsewhere_are_not_written_through_the_repository(make_call):
    call = make_call()
    for name in ("objects/x", "refs/x", "HEAD"):
        call.put(f"plain/{name}", "x")
    call.put("scripts/old", "x")
    (call.root / "plain" / "hooks").symlink_to("../scripts")
    call.refused("denied", "write_file", path="plain/hooks/update", content="evil")
    lenient = make_call(deny_write=[])
    lenient("write_file", path="plain/hooks/update", content="x")


@pytest.mark.parametrize("name", [".ipython/a.ipynb", "profile_a/startup/a.ipynb", ".git/a.ipynb"])
def test_a_notebook_among_such_files_is_not_written_either(call, name):
    new = {"edit_mode": "insert", "at": "start", "cell_type": "code", "new_source": "evil"}
    call.refused("denied", "edit_notebook", path=name, **new)
    call.refused("denied", "write_file", path=name, content=NOTEBOOK)
    call.put(name, NOTEBOOK)
    call("read_notebook", path=name)
    call.refused("denied", "edit_notebook", path=name, **new)
    assert call.got(name).decode() == NOTEBOOK


def test_a_notebook_of_an_assistant_s_settings_waits_for_a_person(call):
    call.put(".claude/a.ipynb", NOTEBOOK)
    call("read_notebook", path=".claude/a.ipynb")
    edit = {"edit_mode": "insert", "at": "start", "cell_type": "code", "new_source": "evil"}
    assert call("edit_notebook", path=".claude/a.ipynb", **edit).change.status == "proposed"
    assert call.got(".claude/a.ipynb").decode() == NOTEBOOK


def test_undo_is_no_way_to_write_such_a_file(make_call):
    lenient = make_call(deny_write=[], ask_write=[])
    made = lenient("write_file", path=".bashrc", content="one\n").change
    strict = make_call(store=lenient.workspace.store)
    strict.refused("denied", "undo", change_id=made.id)
    strict.refused("denied", "undo", path=".bashrc")
    assert strict.got(".bashrc") == b"one\n"


def test_a_proposal_from_before_a_rule_is_not_carried_out(make_call):
    lenient = make_call(deny_write=[], ask_write=[".bashrc"])
    waiting = lenient("write_file", path=".bashrc", content="one\n").change
    strict = make_call(store=lenient.workspace.store)
    with pytest.raises(Exception, match="denied by a rule"):
        Journal(strict.workspace).approve(waiting.id)
    assert os.listdir(strict.root) == []


def test_places_of_this_very_environment_are_never_written(make_call, monkeypatch, tmp_path):
    root = tmp_path / "root"
    for name, place in (("JUPYTER_CONFIG_DIR", "conf"), ("JUPYTER_DATA_DIR", "data"), ("IPYTHONDIR", "ipy")):
        monkeypatch.setenv(name, str(root / place))
    monkeypatch.setenv("PYTHONSTARTUP", str(root / "first.py"))
    call = make_call(kept_keys=startup_places(str(root)), deny_write=[], ask_write=[])
    for path in ("conf/anything.json", "data/kernels/x/logo.txt", "data/labextensions/x.js", "ipy/x.py", "first.py"):
        call.refused("denied", "write_file", path=path, content="evil")
    call("write_file", path="data/notes.txt", content="x")
    call("write_file", path="second.py", content="x")


def test_a_root_inside_such_a_place_is_still_a_root(make_call, monkeypatch, tmp_path):
    monkeypatch.setenv("JUPYTER_CONFIG_DIR", str(tmp_path))
    call = make_call(kept_keys=startup_places(str(tmp_path / "root")))
    call("write_file", path="a.txt", content="x")


def test_a_search_of_many_files_pays_nothing_for_the_rules_of_writing():
    policy = Policy()
    assert policy.may_read("src/a.py") and policy.all_allowed("src", ["a.py"], "/srv/src")
    assert not {"_write", "_ask"} & set(vars(policy))
