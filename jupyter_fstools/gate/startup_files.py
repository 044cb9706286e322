"""Lists files that start code: never written, or only with approval."""

from __future__ import annotations

import os

DENY_READ = (".ssh/", ".gnupg/", "jpserver-*.json")
"""Never read, listed or suggested, at any depth: keys, and the tokens of running servers."""

# docs.jupyter.org/en/latest/use/jupyter-directories.html, ipython.readthedocs.io/en/stable/config/intro.html.
# ipyparallel.readthedocs.io (ipcluster). Older versions also read configuration from the working directory, so the
# names count at any depth.
_JUPYTER = (
    ".jupyter/",
    "jupyter*_config.{py,json}",
    "jupyter*_config.d/",
    "labconfig/",
    "**/kernels/*/kernel.{json,js}",
    "**/.local/share/jupyter/",
    "**/Library/Jupyter/",
    "**/AppData/Roaming/jupyter/",
    "**/.{ipython,config/ipython}/",
    "{ipython*,ipcluster,ipcontroller,ipengine}_config.{py,json}",
    "**/profile_*/startup/",
    ".ipynb_checkpoints/",
)

# The manual pages bash(1), dash(1), zsh(1), tcsh(1), ksh(1), readline(3), pam_env(8), X(7); fishshell.com/docs,
# xon.sh/xonshrc.html, nushell.sh/book/configuration.html, learn.microsoft.com "about_Profiles", starship.rs/config,
# direnv.net, elv.sh/ref/command.html, and the manual pages screen(1), tmux(1), less(1) and lesskey(1); and what those
# files themselves source: as Fedora ships them (.bashrc.d), or as github.com/junegunn/fzf, romkatv/powerlevel10k,
# sorin-ionescu/prezto and zsh-users/antigen, zimfw.sh and ohmyz.sh set them up; and what scripts source or `module`
# runs: sensible-editor(1), devscripts.conf(5), quilt(1), makepkg.conf(5), pbuilderrc(5), modulefile(5), Lmod's pages.
_SHELLS = (
    ".{bashrc,bash_profile,bash_login,bash_logout,bash_aliases,bash_completion,profile,login,logout,inputrc}",
    ".{zshrc,zshenv,zprofile,zlogin,zlogout,cshrc,tcshrc,kshrc,mkshrc,shrc,xonshrc,xprofile,xinitrc,xsession}",
    ".{xsessionrc,xserverrc,pam_environment,oh-my-zsh,zsh,screenrc,tmux.conf,lesskey,lessfilter}",
    "**/.config/{bash,zsh,fish,xonsh,nushell,powershell,starship.toml,tmux,lesskey,direnv,elvish}",
    ".{bashrc.d,zshrc.d,fzf.bash,fzf.zsh,p10k.zsh,zimrc,zpreztorc,antigenrc,zcompdump,direnvrc,elvish}",
    "**/.local/share/{fish,zsh}",
    ".{selected_editor,devscripts,quiltrc,makepkg.conf,pbuilderrc,modulerc,modulerc.lua,lmod.d}",
    "*profile.ps1",
)

# docs.python.org/3/library/site.html, pip.pypa.io/en/stable/topics/configuration, packaging.python.org (.pypirc),
# docs.conda.io (.condarc), mamba.readthedocs.io, setuptools (.pydistutils.cfg, egg-link),
# docs.python.org/3/using/cmdline.html, docs.astral.sh/uv, python-poetry.org/docs/configuration,
# github.com/prompt-toolkit/ptpython, docs.dask.org "Configuration" (preload), docs.python.org/3/using/windows (._pth).
# Python imports a customizing package, or a compiled module, as it does a module.
_PYTHON = (
    "*{.,._}pth",
    "*.egg-link",
    "{sitecustomize,usercustomize}{,.*}",
    "pyvenv.cfg",
    ".{pythonrc,pythonstartup}{,.py}",
    ".{pypirc,pydistutils.cfg,condarc,mambarc,pip,ptpython}",
    "pip.{conf,ini}",
    "**/.config/{pip,uv,pypoetry,conda,ptpython,dask}",
    "**/.local/lib/",
)

# git-scm.com/docs/git-config, githooks and git-clone (a bare repository ends in .git); hgrc(5), the Subversion book
# "Implementing Repository Hooks", docs.jj-vcs.dev "Settings", breezy-vcs.org, cli.github.com/manual (aliases).
_VERSION_CONTROL = (
    "*.git/",
    ".gitconfig",
    "**/.config/{git,jj,hg,gh}",
    ".{hg,hgrc,svn,jj,bzr,subversion}",
)

# git-scm.com/docs/gitrepository-layout: a folder with HEAD, objects and refs is a repository whatever its name, and git
# runs what its config names (fsmonitor). A folder called so is ordinary; the `!` opens nothing that later rules deny.
_REPOSITORIES = ("HEAD", "!HEAD/")
RUN_OF_REPOSITORY = frozenset(
    {"commondir", "config", "config.worktree", "hooks", "rebase-merge", "rebase-apply", "sequencer", "worktrees"}
)
"""Names in a git repository that hold, or lead to, what git runs (`exec` in the steps of a rebase)."""

# specifications.freedesktop.org (autostart, desktop-entry, basedir), the manual pages systemd.unit(5), crontab(5),
# environment.d(5), tmpfiles.d(5), dbus-daemon(1), aliases(5) (.forward), procmailrc(5), mailcap(5), ssh(1) (.rhosts),
# k5login(5), ftp(1) (macros of .netrc), lxsession(1); launchd.plist(5) on macOS; userbase.kde.org "Session Environment
# Variables in Plasma"; xdg-user-dirs-update(1): scripts source user-dirs.dirs; of window managers and terminals, which
# run what their keys are bound to, i3(1), sway(5), wiki.hypr.land, the manuals of awesome(1), bspwm(1), fluxbox(1),
# openbox.org, docs.qtile.org, docs.xfce.org, sxhkd(1), kitty.conf(5), alacritty(5), wezterm.org/config.
_DESKTOP = (
    "**/.local/{bin,share/{systemd,applications,dbus-1,autostart,bash-completion,kservices5,plasma}}",
    "**/.config/{autostart,autostart-scripts,systemd,environment.d,plasma-workspace,lxsession,mimeapps.list,user-dirs.dirs,user-tmpfiles.d}",
    "**/.config/{i3,sway,hypr,awesome,bspwm,sxhkd,openbox,qtile,kitty,alacritty,wezterm,xfce4}",
    ".{kde,kde4,fluxbox,openbox,wezterm.lua}",
    # vncserver(1), with which JupyterHub shows desktops; xmonad.org, ice-wm.org, fvwm.org; xbindkeys(1), startx(1).
    ".{vnc,i3,xmonad,icewm,fvwm,Xclients,xbindkeysrc}",
    "**/.config/{tigervnc,xmonad,polybar,waybar,river,niri,labwc,kwinrc,kglobalshortcutsrc,Thunar}",
    "**/.local/share/{nautilus,gnome-shell}/",
    "**/Library/{LaunchAgents,LaunchDaemons,StartupItems}/",
    "**/Start Menu/Programs/Startup/",
    "{anacrontab,crontabs,cron.d,cron.hourly,cron.daily,cron.weekly,cron.monthly}",
    "**/spool/cron/",
    ".{crontab,forward,procmailrc,mailcap,rhosts,shosts,k5login,netrc}",
)

# Folders on the PATH of a login, or sourced at it, as these installers leave them: rust-lang.github.io/rustup,
# github.com/nvm-sh/nvm, pyenv/pyenv and rbenv/rbenv, sdkman.io/install, asdf-vm.com/guide, docs.volta.sh, bun.com/docs,
# docs.deno.com, docs.astral.sh/uv, pipx.pypa.io, npm-folders(5); learn.microsoft.com (WindowsApps) on Windows.
_TOOLS = (
    "**/.cargo/{bin,env}",
    ".{rustup,nvm,pyenv,rbenv,sdkman,asdf,asdfrc,volta,bun,deno,npm-global}",
    "**/.local/share/{uv,pipx}",
    "**/AppData/{Roaming/npm,Local/Microsoft/WindowsApps}",
)

# Editors, debuggers and clients that run what their file in the home folder says: vim (:help initialization), GNU Emacs
# manual "Init File", psql(1), mysql(1), sqlite3(1), curl(1), wget(1), irb(1), github.com/pry/pry; kubectl, aws and az
# run what exec and credential_process name, docker its cli-plugins; containers.conf(5), docs.helix-editor.com, zed.dev,
# code.visualstudio.com/docs and its forks (Cursor, VSCodium, Windsurf, Trae, Kiro), docs.julialang.org "Startup file".
_PROGRAMS = (
    ".{vim,vimrc,gvimrc,emacs,emacs.d,spacemacs,doom.d,ideavimrc,psqlrc,sqliterc,my.cnf,mylogin.cnf}",
    ".{curlrc,wgetrc,irbrc,pryrc,aws,azure,kube,docker,vscode-server,cursor-server,code-server}",
    "**/.config/{nvim,vim,emacs,doom,helix,zed,micro,docker,containers,gcloud,op}",
    "**/.config/{Code,Cursor,VSCodium,Windsurf,Trae,Kiro}",
    "**/.julia/config/",
    # The same of nanorc(5), muttrc(5), mailx(1), gnuplot(1), perldebug(1), docs.octave.org "Startup Files",
    # ghc.haskell.org ".ghci files", ocaml.org/manual "The toplevel system", github.com/ocaml-community/utop,
    # doc.sagemath.org "init.sage", maxima.sourceforge.io "Runtime Environment", ammonite.io, duckdb.org/docs
    # "Configuring the CLI", maven.apache.org/settings.html, docs.gradle.org "Initialization Scripts", scala-sbt.org
    # "Global Settings".
    ".{nanorc,muttrc,mutt,mailrc,octaverc,ghci,ocamlinit,utoprc,sage,maxima,ammonite,duckdbrc,gnuplot,perldb,mavenrc}",
    "**/.m2/settings.xml",
    "**/.gradle/init{.d,.gradle,.gradle.kts}",
    "**/.sbt/",
    # sourceware.org/gdb "Initialization Files", lf(1), ranger(1), mpv(1) (scripts), zellij.dev/documentation,
    # ghostty.org/docs/config, neomutt.org/guide, tigrc(5), lazygit's page "Custom Commands",
    # mise.jdx.dev/configuration.html, neovim.io/doc/user "runtimepath".
    # hexdocs.pm/iex, erlang.org/doc/man/shell, sbcl.org/manual "Initialization Files", ecl.common-lisp.dev, Guile's
    # manual "The Init File", docs.racket-lang.org/reference, github.com/technomancy/leiningen.
    ".{gdbearlyinit,iex.exs,erlang,sbclrc,eclrc,guile,racketrc,lein}",
    "**/.config/{gdb,ghc,lf,ranger,mpv,zellij,ghostty,mutt,neomutt,tig,lazygit,mise,nano}",
    "**/.local/share/nvim/",
    # Their names and folders on Windows and macOS.
    "_{vimrc,gvimrc,exrc,viminfo,netrc}",
    "**/{Application Support,AppData/Roaming}/{Code,Cursor,VSCodium,Windsurf,Trae,Kiro}/",
)

# Assistants' settings in the home folder: they name commands that the assistant starts.
# code.claude.com/docs/en/settings, modelcontextprotocol.io/docs/develop/connect-local-servers, block.github.io/goose,
# opencode.ai/docs/config, developers.openai.com/codex, docs.github.com/copilot "CLI configuration directory",
# aider.chat/docs/config, ampcode.com/manual, github.com/charmbracelet/crush, docs.windsurf.com (.codeium).
_ASSISTANTS = (
    ".claude.json",
    "claude_desktop_config.json",
    "**/.config/{claude,goose,opencode,codex,github-copilot,aider,amp,crush}",
    "**/.{codeium,copilot}/",
)

DENY_WRITE = (
    *_REPOSITORIES,
    *DENY_READ,
    *_JUPYTER,
    *_SHELLS,
    *_PYTHON,
    *_VERSION_CONTROL,
    *_DESKTOP,
    *_TOOLS,
    *_PROGRAMS,
    *_ASSISTANTS,
)
"""Never written, at any depth: each runs code or configures a program without asking again."""

ASK_WRITE = (
    # Jupyter's files as an extension ships them; those that a running Jupyter reads are never written.
    "**/{etc,share}/{jupyter,ipython}/",
    "**/{site,dist}-packages/",
    # Shells source these: docs.python.org/3/library/venv.html, virtualenv.pypa.io, docs.conda.io "Environments".
    "**/etc/conda/{activate,deactivate}.d/",
    "**/conda-meta/state",
    "**/{bin,Scripts}/activate{,.bat,.csh,.fish,.nu,.ps1,_this.py}",
    # Tasks, launch, settings, mcp and workspaces of code.visualstudio.com/docs; theia-ide.org/docs, containers.dev,
    # zed.dev and jetbrains.com/help, sublimetext.com/docs/projects.html (build systems), vim's :help exrc, GNU Emacs
    # manual "Directory Variables", lazy.folke.io, github.com/embear/vim-localvimrc and ycm-core/YouCompleteMe.
    "**/.{vscode,theia}/{tasks,launch,settings,mcp}.json",
    "*.{code-workspace,sublime-project}",
    ".{devcontainer,devcontainer.json,idea,fleet,zed,exrc,nvimrc,nvim.lua,vimrc.local,dir-locals.el}",
    ".{lvimrc,local.vimrc,lazy.lua,ycm_extra_conf.py}",
    # direnv.net, mise.jdx.dev, and files that programs look for in a working directory: gdb(1), lldb(1),
    # docs.python.org/3/library/pdb.html, R's help page Startup.
    ".{envrc,mise.toml,mise,gdbinit,lldbinit,pdbrc,pdbrc.py,Rprofile,Renviron}",
    "{mise.toml,Rprofile.site}",
    # npm (.npmrc), yarnpkg.com (yarnPath, .pnp.cjs), pnpm.io, doc.rust-lang.org/cargo (runner, rustc-wrapper),
    # bundler.io/man/bundle-config.1.html.
    ".{npmrc,yarnrc,yarnrc.yml,pnpmfile.cjs,pnp.cjs}",
    "**/.yarn/{releases,plugins}/",
    "**/.cargo/config{,.toml}",
    "**/.bundle/config",
    # git and its hooks in a working tree: git-scm.com/docs, typicode.github.io/husky, pre-commit.com, lefthook.dev.
    ".{gitmodules,githooks,husky,pre-commit-config.yaml,lefthook.yml}",
    "lefthook.y{a,}ml",
    # Cron jobs and desktop entries as a project ships them: crontab(5), specifications.freedesktop.org.
    "crontab",
    "*.desktop",
    # Assistants' files in a project: commands they start, and permissions they have. code.claude.com/docs,
    # cursor.com/docs, developers.openai.com/codex, github.com/google-gemini/gemini-cli, docs.windsurf.com,
    # docs.continue.dev, docs.cline.bot, docs.roocode.com, kiro.dev/docs, docs.aws.amazon.com/amazonq,
    # qwenlm.github.io/qwen-code-docs, opencode.ai/docs, jetbrains.com/help/junie, block.github.io/goose,
    # docs.augmentcode.com, docs.trae.ai, aider.chat/docs/config, agentskills.io (.agents), kilocode.ai/docs,
    # docs.factory.ai, github.com/charmbracelet/crush, and docs.github.com/copilot (hooks and language servers).
    ".{mcp.json,claude,cursor,cursorrules,codex,gemini,windsurf,windsurfrules,continue,cline,clinerules,roo,roorules}",
    ".{kiro,amazonq,qwen,opencode,junie,goose,goosehints,augment,trae,aider.conf.yml,agents,kilocode,factory,crush.json}",
    "crush.json",
    "opencode.json{,c}",
    "**/.github/{hooks/,lsp.json}",
)
"""A person approves each change, at any depth: these start code as well, but are ordinary parts of projects."""

_NAMED_BY = ("BASH_ENV", "ENV", "GIT_CONFIG_GLOBAL", "PIP_CONFIG_FILE", "PYTHONSTARTUP")
"""Environment variables that name a file which a shell, git, pip or Python runs or reads."""

_RUN_OF_DATA = ("extensions", "kernels", "lab", "labextensions", "nbconvert", "nbextensions")
"""Subfolders of Jupyter's data folder whose files are run or rendered."""


def startup_places(root: str) -> list[str]:
    """The files and folders that start code or hold settings in this environment, by their real paths.

    Args:
        root: the real path of the tools' folder; a place that holds all of it is left out.
    """
    from jupyter_core.paths import jupyter_config_path, jupyter_path

    home = os.path.expanduser("~")
    places = (
        *jupyter_config_path(),
        *(os.path.join(folder, name) for folder in jupyter_path() for name in _RUN_OF_DATA),
        os.environ.get("IPYTHONDIR") or os.path.join(home, ".ipython"),
        os.path.join(home, "bin"),
        *filter(None, map(os.environ.get, _NAMED_BY)),
    )
    real = dict.fromkeys(os.path.realpath(place) for place in places)
    return [place for place in real if not f"{root}/".startswith(f"{place}/")]
