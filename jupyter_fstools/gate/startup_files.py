"""Lists the files that start code or configure programs, with sources."""

from __future__ import annotations

import os

DENY_READ = (".ssh/", ".gnupg/", "jpserver-*.json")
"""Never read, listed or suggested, at any depth: keys, and the tokens of running servers."""

# docs.jupyter.org/en/latest/use/jupyter-directories.html, ipython.readthedocs.io/en/stable/config/intro.html.
# Both also read configuration from the working directory, so the names count at any depth.
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
    "ipython*_config.{py,json}",
    "**/profile_*/startup/",
    ".ipynb_checkpoints/",
)

# The manual pages bash(1), dash(1), zsh(1), tcsh(1), ksh(1), readline(3), pam_env(8), X(7); fishshell.com/docs,
# xon.sh/xonshrc.html, nushell.sh/book/configuration.html, learn.microsoft.com "about_Profiles"; and what those files
# themselves source: as Fedora ships them (.bashrc.d), or as fzf, powerlevel10k, zimfw, prezto and antigen set them up.
_SHELLS = (
    ".{bashrc,bash_profile,bash_login,bash_logout,bash_aliases,bash_completion,profile,login,logout,inputrc}",
    ".{zshrc,zshenv,zprofile,zlogin,zlogout,cshrc,tcshrc,kshrc,mkshrc,shrc,xonshrc,xprofile,xinitrc,xsession}",
    ".{xsessionrc,xserverrc,pam_environment,oh-my-zsh,zsh,screenrc,tmux.conf,lesskey,lessfilter}",
    "**/.config/{bash,zsh,fish,xonsh,nushell,powershell,starship.toml,tmux,lesskey,direnv}",
    ".{bashrc.d,zshrc.d,fzf.bash,fzf.zsh,p10k.zsh,zimrc,zpreztorc,antigenrc,zcompdump}",
    "**/.local/share/{fish,zsh}",
    "*profile.ps1",
)

# docs.python.org/3/library/site.html, pip.pypa.io/en/stable/topics/configuration, packaging.python.org (.pypirc),
# docs.conda.io (.condarc), setuptools (.pydistutils.cfg, egg-link), docs.python.org/3/using/cmdline.html.
_PYTHON = (
    "*.pth",
    "*.egg-link",
    "{sitecustomize,usercustomize}.py",
    "pyvenv.cfg",
    ".{pythonrc,pythonstartup}{,.py}",
    ".{pypirc,pydistutils.cfg,condarc,mambarc,pip}",
    "pip.{conf,ini}",
    "**/.config/{pip,uv,pypoetry,conda}",
    "**/.local/lib/",
)

# git-scm.com/docs/git-config, githooks and git-clone (a bare repository ends in .git); hg, svn and jj have hooks too.
_VERSION_CONTROL = (
    "*.git/",
    ".gitconfig",
    "**/.config/{git,jj,hg,gh}",
    ".{hg,hgrc,svn,jj,bzr,subversion}",
)

# specifications.freedesktop.org (autostart, desktop-entry, basedir), the manual pages systemd.unit(5), crontab(5),
# environment.d(5), dbus-daemon(1), aliases(5) (.forward), mailcap(5), ssh(1) (.rhosts); launchd.plist(5) on macOS.
_DESKTOP = (
    "**/.local/{bin,share/{systemd,applications,dbus-1,autostart,bash-completion,kservices5,plasma}}",
    "**/.config/{autostart,autostart-scripts,systemd,environment.d,plasma-workspace,lxsession,mimeapps.list,user-tmpfiles.d}",
    "**/.config/{i3,sway,hypr,awesome,bspwm,openbox,qtile,kitty,alacritty,wezterm,xfce4}",
    ".{kde,kde4,fluxbox,openbox,wezterm.lua}",
    "**/Library/{LaunchAgents,LaunchDaemons,StartupItems}/",
    "**/Start Menu/Programs/Startup/",
    "{anacrontab,crontabs,cron.d,cron.hourly,cron.daily,cron.weekly,cron.monthly}",
    "**/spool/cron/",
    ".{crontab,forward,procmailrc,mailcap,rhosts,shosts,k5login,netrc}",
)

# Folders on the PATH of a login, or sourced at it, as these installers leave them: rustup, nvm, pyenv, rbenv, sdkman,
# asdf, volta, bun, deno, uv, pipx; npm and the app store on Windows.
_TOOLS = (
    "**/.cargo/{bin,env}",
    ".{rustup,nvm,pyenv,rbenv,sdkman,asdf,asdfrc,volta,bun,deno,npm-global}",
    "**/.local/share/{uv,pipx}",
    "**/AppData/{Roaming/npm,Local/Microsoft/WindowsApps}",
)

# Editors, debuggers and clients that run what their file in the home folder says: vim (:help initialization), GNU Emacs
# manual "Init File", nano, psql(1), sqlite3(1), kubectl and aws (exec and credential_process), docker (cli-plugins).
_PROGRAMS = (
    ".{vim,vimrc,gvimrc,emacs,emacs.d,spacemacs,doom.d,ideavimrc,psqlrc,sqliterc,my.cnf,mylogin.cnf}",
    ".{curlrc,wgetrc,irbrc,pryrc,aws,azure,kube,docker,vscode-server,cursor-server,code-server}",
    "**/.config/{nvim,vim,emacs,doom,helix,Code,Cursor,VSCodium,zed,micro,docker,containers,gcloud,op}",
    "**/.julia/config/",
    # The same of nano, mutt, Octave, GHC, OCaml, SageMath, Maxima, Ammonite, DuckDB, gnuplot, Perl and Java.
    ".{nanorc,muttrc,mutt,mailrc,octaverc,ghci,ocamlinit,utoprc,sage,maxima,ammonite,duckdbrc,gnuplot,perldb,mavenrc}",
    "**/.m2/settings.xml",
    "**/.gradle/init{.d,.gradle,.gradle.kts}",
    "**/.sbt/",
    ".gdbearlyinit",
    "**/.config/{gdb,ghc,lf,ranger,mpv,zellij,ghostty,mutt,neomutt,tig,lazygit,mise,nano}",
    "**/.local/share/nvim/",
    # Their names and folders on Windows and macOS.
    "_{vimrc,gvimrc,exrc,viminfo,netrc}",
    "**/{Application Support,AppData/Roaming}/{Code,Cursor,VSCodium}/",
)

# Assistants' settings in the home folder: they name commands that the assistant starts.
_ASSISTANTS = (
    ".claude.json",
    "claude_desktop_config.json",
    "**/.config/{claude,goose,opencode,codex,github-copilot,aider,amp,crush}",
    "**/.{codeium,copilot}/",
)

DENY_WRITE = (
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
"""Never written, at any depth: each runs code or sets up a program without being asked again."""

ASK_WRITE = (
    # Jupyter's files as an extension ships them; those that a running Jupyter reads are never written.
    "**/{etc,share}/{jupyter,ipython}/",
    "**/{site,dist}-packages/",
    # code.visualstudio.com/docs (tasks, launch, settings, mcp, workspaces), containers.dev, zed.dev, jetbrains.com.
    "**/.{vscode,theia}/{tasks,launch,settings,mcp}.json",
    "*.{code-workspace,sublime-project}",
    ".{devcontainer,devcontainer.json,idea,fleet,zed,exrc,nvimrc,nvim.lua,vimrc.local,dir-locals.el}",
    ".{lvimrc,local.vimrc,lazy.lua,ycm_extra_conf.py}",
    # direnv.net, mise.jdx.dev, and the first files that debuggers and R look for in a working directory.
    ".{envrc,mise.toml,mise,gdbinit,lldbinit,pdbrc,Rprofile,Renviron}",
    "{mise.toml,Rprofile.site}",
    # npm (.npmrc), yarnpkg.com (yarnPath, .pnp.cjs), pnpm.io, doc.rust-lang.org/cargo (runner, rustc-wrapper).
    ".{npmrc,yarnrc,yarnrc.yml,pnpmfile.cjs,pnp.cjs}",
    "**/.yarn/{releases,plugins}/",
    "**/.cargo/config{,.toml}",
    "**/.bundle/config",
    # git and its hooks in a working tree.
    ".{gitmodules,githooks,husky,pre-commit-config.yaml,lefthook.yml}",
    "lefthook.y{a,}ml",
    # Cron jobs and desktop entries as a project ships them.
    "crontab",
    "*.desktop",
    # What assistants read in a project: commands they start, and what they may do unasked.
    ".{mcp.json,claude,cursor,cursorrules,codex,gemini,windsurf,windsurfrules,continue,cline,clinerules,roo,roorules}",
    ".{kiro,amazonq,qwen,opencode,junie,goose,goosehints,augment,trae,aider.conf.yml,agents}",
    "opencode.json{,c}",
)
"""A person approves each change, at any depth: of this kind too, but ordinary parts of projects."""

_NAMED_BY = ("BASH_ENV", "ENV", "GIT_CONFIG_GLOBAL", "PIP_CONFIG_FILE", "PYTHONSTARTUP")
"""Environment variables that name a file which a shell, git, pip or Python runs or reads."""

_RUN_OF_DATA = ("extensions", "kernels", "lab", "labextensions", "nbconvert", "nbextensions")
"""What is run or rendered of a folder of Jupyter's data."""


def startup_places(root: str) -> list[str]:
    """The files and folders that start code or hold settings in this very environment, by their real paths.

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
