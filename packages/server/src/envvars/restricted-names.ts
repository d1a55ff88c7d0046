/**
 * Restricted names: variables whose values can make a process, or a program it starts, run code, load files as code, write files, or
 * weaken encrypted connections. Only administrators may set or remove them. Pure.
 *
 * Names are compared in upper case: on Windows `node_options` is `NODE_OPTIONS`.
 *
 * The list covers common programs and cannot be complete. It does not contain variables that people set for applications (DATABASE_URL, API
 * keys, HTTP_PROXY, TZ, LANG). A prefix is listed only if every name with that prefix is restricted.
 */

interface Group {
  /** The effect of these variables, phrased to follow "because it". */
  readonly why: string;
  /** Names, separated by spaces. */
  readonly names?: string;
  /** Prefixes, separated by spaces. */
  readonly prefixes?: string;
  /** Exceptions from the prefixes. */
  readonly except?: string;
}

const groups: readonly Group[] = [
  {
    // Read by Node.js at startup, including processes and workers that a task starts. NODE_ENV and NODE_DEBUG are unrestricted.
    why: 'makes Node.js run code, load files or write files',
    names: `NODE_OPTIONS NODE_PATH NODE_REPL_EXTERNAL_MODULE NODE_REPL_HISTORY NODE_V8_COVERAGE NODE_COMPILE_CACHE
      NODE_COMPILE_CACHE_PORTABLE NODE_DISABLE_COMPILE_CACHE NODE_ICU_DATA NODE_REDIRECT_WARNINGS NODE_PRESERVE_SYMLINKS
      NODE_PRESERVE_SYMLINKS_MAIN NODE_CHANNEL_FD NODE_CHANNEL_SERIALIZATION_MODE NODE_UNIQUE_ID NODE_TEST_CONTEXT`,
    prefixes: 'ELECTRON_ TS_NODE_ TSX_',
  },
  {
    // All of their settings, such as the shell for scripts, the registry, or a script to load.
    why: 'makes package managers run code, or take code from elsewhere',
    names: `NODE_GYP_FORCE_PYTHON NVM_DIR VOLTA_HOME GEM_HOME GEM_PATH RUBYGEMS_GEMDEPS LUAROCKS_CONFIG`,
    prefixes: `NPM_CONFIG_ YARN_ PNPM_ COREPACK_ BUN_ DENO_ PIP_ PIPX_ PIPENV_ POETRY_ PDM_ UV_ CONDA_ PYENV_ BUNDLE_ RBENV_ COMPOSER_
      NUGET_ HOMEBREW_ ASDF_ MISE_`,
  },
  {
    // npm packages that load a library or start a program at that path.
    why: 'names a library or a program that npm packages load or start',
    names: `ESBUILD_BINARY_PATH NAPI_RS_NATIVE_LIBRARY_PATH SWC_BINARY_PATH SASS_PATH SASS_BINARY_PATH PRISMA_QUERY_ENGINE_LIBRARY
      PRISMA_QUERY_ENGINE_BINARY PRISMA_SCHEMA_ENGINE_BINARY PRISMA_MIGRATION_ENGINE_BINARY PRISMA_INTROSPECTION_ENGINE_BINARY
      PRISMA_FMT_BINARY PRISMA_ENGINES_MIRROR PRISMA_BINARIES_MIRROR PUPPETEER_EXECUTABLE_PATH PLAYWRIGHT_BROWSERS_PATH
      PLAYWRIGHT_CHROMIUM_EXECUTABLE_PATH CHROME_PATH CHROME_BIN EDGE_PATH FFMPEG_PATH FFPROBE_PATH`,
  },
  {
    why: 'makes the dynamic linker or the C library load code',
    names: `GCONV_PATH GETCONF_DIR GLIBC_TUNABLES LOCPATH NLSPATH MALLOC_TRACE MALLOC_CONF HOSTALIASES LOCALDOMAIN RES_OPTIONS
      RESOLV_HOST_CONF LIBPATH SHLIB_PATH TERMINFO TERMINFO_DIRS TERMCAP TERMPATH`,
    prefixes: 'LD_ DYLD_ _RLD_',
  },
  {
    why: 'makes programs write files, or start other programs for diagnostics',
    names: `ASAN_OPTIONS LSAN_OPTIONS MSAN_OPTIONS TSAN_OPTIONS UBSAN_OPTIONS VALGRIND_OPTS LLVM_PROFILE_FILE LLVM_SYMBOLIZER_PATH
      GCOV_PREFIX GMON_OUT_PREFIX CPUPROFILE HEAPPROFILE GOCOVERDIR`,
  },
  {
    why: 'controls which programs are started, or which commands a shell runs first',
    names: `PATH PATHEXT COMSPEC SYSTEMROOT SYSTEMDRIVE WINDIR PSMODULEPATH __COMPAT_LAYER DEVELOPER_DIR SHELL BASH_ENV ENV SHELLOPTS
      BASHOPTS BASH_XTRACEFD BASH_LOADABLES_PATH PROMPT_COMMAND PS0 PS1 PS2 PS3 PS4 IFS CDPATH EXECIGNORE GLOBIGNORE ZDOTDIR FPATH
      HISTFILE FCEDIT`,
    prefixes: 'BASH_FUNC_',
  },
  {
    // Git, npm, ssh and shells read their configuration there, and it can name programs to run.
    why: 'controls where programs search for their configuration',
    names:
      'HOME USERPROFILE HOMEDRIVE HOMEPATH APPDATA LOCALAPPDATA PROGRAMDATA ALLUSERSPROFILE XDG_RUNTIME_DIR',
    prefixes: 'XDG_CONFIG_ XDG_DATA_',
  },
  {
    why: 'weakens or records encrypted connections, or loads code into their library',
    names: `NODE_EXTRA_CA_CERTS NODE_TLS_REJECT_UNAUTHORIZED NODE_USE_SYSTEM_CA NODE_USE_ENV_PROXY SSLKEYLOGFILE CURL_CA_BUNDLE
      REQUESTS_CA_BUNDLE AWS_CA_BUNDLE PGSSLKEY SSH_SK_PROVIDER PKCS11_MODULE_PATH SOFTHSM2_CONF GODEBUG`,
    prefixes: 'SSL_CERT_ OPENSSL_ P11_KIT_',
  },
  {
    why: 'makes an interpreter that a task starts run or load other code',
    names: `RUBYOPT RUBYLIB RUBYSHELL IRBRC PHPRC PHP_INI_SCAN_DIR PHP_INI_DIR IPYTHONDIR JUPYTER_PATH JUPYTER_CONFIG_DIR
      TCLLIBPATH TCL_LIBRARY TK_LIBRARY R_HOME R_PROFILE R_PROFILE_USER R_ENVIRON R_ENVIRON_USER R_LIBS R_LIBS_USER R_LIBS_SITE
      R_DEFAULT_PACKAGES OCTAVE_PATH OCTAVE_SITE_INITFILE OCTAVE_VERSION_INITFILE MATLABPATH MIX_HOME MIX_ARCHIVES MIX_EXS MIX_PATH
      HEX_HOME GHCRTS GHC_ENVIRONMENT GHC_PACKAGE_PATH STACK_ROOT STACK_YAML OCAMLPATH OCAMLRUNPARAM CAML_LD_LIBRARY_PATH`,
    prefixes: 'PYTHON PERL LUA_ ERL_ ELIXIR_ JULIA_ CABAL_',
  },
  {
    why: 'makes Java or a tool built on it run or load other code',
    names: `CLASSPATH JAVA_HOME JRE_HOME JDK_HOME JAVA_OPTS JAVA_OPTIONS JAVA_TOOL_OPTIONS JDK_JAVA_OPTIONS JDK_JAVAC_OPTIONS
      _JAVA_OPTIONS IBM_JAVA_OPTIONS OPENJ9_JAVA_OPTIONS JVM_OPTS MAVEN_OPTS MAVEN_ARGS MAVEN_CONFIG MAVEN_HOME M2_HOME GRADLE_OPTS
      GRADLE_HOME GRADLE_USER_HOME ANT_OPTS ANT_ARGS ANT_HOME SBT_OPTS KOTLIN_HOME SCALA_HOME GROOVY_HOME GROOVY_CONF CATALINA_OPTS
      CATALINA_HOME CATALINA_BASE`,
  },
  {
    // .NET reads every setting as COMPlus_… and as DOTNET_…; some name libraries to load.
    why: 'makes .NET run or load other code',
    names: 'ASPNETCORE_HOSTINGSTARTUPASSEMBLIES MSBUILDSDKSPATH MSBUILD_EXE_PATH',
    prefixes: 'DOTNET_ COMPLUS_ CORECLR_ COR_',
    except:
      'DOTNET_ENVIRONMENT DOTNET_URLS DOTNET_NOLOGO DOTNET_CLI_TELEMETRY_OPTOUT DOTNET_RUNNING_IN_CONTAINER',
  },
  {
    // RUST_LOG and RUST_BACKTRACE are application settings.
    why: 'makes a compiler or a build run other programs, or use other code',
    names: `CC CXX CPP FC AR AS LD CFLAGS CXXFLAGS CPPFLAGS LDFLAGS CPATH C_INCLUDE_PATH CPLUS_INCLUDE_PATH OBJC_INCLUDE_PATH
      LIBRARY_PATH COMPILER_PATH GCC_EXEC_PREFIX MAKE MAKEFLAGS GNUMAKEFLAGS MFLAGS MAKEFILES ACLOCAL_PATH RUSTC RUSTC_WRAPPER
      RUSTC_WORKSPACE_WRAPPER RUSTDOC RUSTFLAGS RUSTDOCFLAGS GOFLAGS GOENV GOPATH GOROOT GOBIN GOTOOLCHAIN GOTOOLDIR GOPROXY GOSUMDB
      GONOSUMDB GONOSUMCHECK GOPRIVATE GONOPROXY GOINSECURE GOMODCACHE GOCACHE GOCACHEPROG GOWORK GOAUTH GOVCS`,
    prefixes: 'CARGO_ RUSTUP_ CGO_ CCACHE_ DISTCC_ CMAKE_ PKG_CONFIG BAZELISK_',
  },
  {
    // Only Git variables that run or load something: GIT_SHA, GIT_BRANCH and the like are information that deployments pass on.
    why: 'makes Git run programs, read other configuration or write files',
    names: `GIT_ASKPASS GIT_EDITOR GIT_SEQUENCE_EDITOR GIT_PAGER GIT_EXEC_PATH GIT_EXTERNAL_DIFF GIT_PROXY_COMMAND GIT_TEMPLATE_DIR
      GIT_DIR GIT_COMMON_DIR GIT_WORK_TREE GIT_INDEX_FILE GIT_OBJECT_DIRECTORY GIT_ALTERNATE_OBJECT_DIRECTORIES GIT_ATTR_SOURCE
      GIT_ALLOW_PROTOCOL`,
    prefixes: 'GIT_SSH GIT_CONFIG GIT_SSL_ GIT_TRACE GIT_REDIRECT_',
  },
  {
    why: 'makes other version or secret managers run programs or read other configuration',
    names: `GH_PAGER GH_EDITOR GH_BROWSER GH_PATH GH_CONFIG_DIR SVN_SSH SVN_EDITOR CVS_RSH CVSEDITOR HGRCPATH HGEDITOR HGMERGE P4CONFIG
      P4EDITOR P4ENVIRO SOPS_EDITOR GNUPGHOME PASSWORD_STORE_DIR PASSWORD_STORE_EXTENSIONS_DIR PASSWORD_STORE_ENABLE_EXTENSIONS
      SSH_AUTH_SOCK KRB5_CONFIG KRB5_TRACE SASL_PATH SASL_CONF_PATH LDAPCONF LDAPRC`,
  },
  {
    why: 'names a program that other programs start',
    names: `EDITOR VISUAL ALTERNATE_EDITOR SUDO_EDITOR PAGER MANPAGER MANOPT BROWSER SSH_ASKPASS SUDO_ASKPASS SYSTEMD_PAGER
      SYSTEMD_EDITOR SYSTEMD_LESS LESS LESSOPEN LESSCLOSE LESSEDIT LESSKEY LESSKEYIN LESSKEY_SYSTEM LESSKEY_CONTENT LESSHISTFILE
      BAT_PAGER BAT_CONFIG_PATH DELTA_PAGER RIPGREP_CONFIG_PATH ACKRC GREP_OPTIONS INPUTRC SCREENRC SYSSCREENRC MAILRC MAILCAPS
      VIMINIT GVIMINIT EXINIT VIM VIMRUNTIME MYVIMRC EMACSLOADPATH EMACSPATH`,
    // A D-Bus address may name a program to start.
    prefixes: 'FZF_ DBUS_',
  },
  {
    // `tar --checkpoint-action` and `zip -TT` run commands; TAPE may name a host to connect to with rsh.
    why: 'passes options to programs that archive, copy or download, and these can run commands or write files',
    names: `TAR_OPTIONS TAPE RMT ZIP ZIPOPT UNZIP UNZIPOPT ZIPINFO ZIPINFOOPT GZIP BZIP BZIP2 XZ_OPT XZ_DEFAULTS LZOP
      RESTIC_PASSWORD_COMMAND BORG_PASSCOMMAND BORG_RSH BORG_REMOTE_PATH BORG_CONFIG_DIR CURL_HOME WGETRC SYSTEM_WGETRC NETRC
      LYNX_CFG HTTPIE_CONFIG_DIR`,
    prefixes: 'RSYNC_ RCLONE_',
    except: 'RSYNC_PASSWORD',
  },
  {
    // Their configuration may name credential programs and plugins.
    why: 'controls which configuration, plugins or daemon cloud and container tools use',
    names: `AWS_CONFIG_FILE AWS_SHARED_CREDENTIALS_FILE AWS_PAGER AWS_DATA_PATH BOTO_CONFIG CLOUDSDK_CONFIG CLOUDSDK_GSUTIL_PYTHON
      CLOUDSDK_BQ_PYTHON GOOGLE_EXTERNAL_ACCOUNT_ALLOW_EXECUTABLES AZURE_CONFIG_DIR AZURE_EXTENSION_DIR KUBECONFIG KUBERC KUBE_EDITOR
      KREW_ROOT DOCKER_CONFIG DOCKER_HOST DOCKER_CONTEXT DOCKER_CERT_PATH DOCKER_TLS_VERIFY COMPOSE_FILE CONTAINER_HOST
      REGISTRY_AUTH_FILE TF_DATA_DIR TF_PLUGIN_CACHE_DIR TERRAFORM_CONFIG PULUMI_HOME`,
    prefixes: 'CLOUDSDK_PYTHON KUBECTL_ HELM_ BUILDX_ CONTAINERS_ TF_CLI_ ANSIBLE_ VAGRANT_',
  },
  {
    // PGHOST, PGUSER, MYSQL_PWD and the like only select a database, and are unrestricted.
    why: 'makes database clients run commands, load code or read other configuration',
    names: `PSQLRC PGSERVICEFILE PGSYSCONFDIR PGPASSFILE MYSQL_HOME MYSQL_HISTFILE MYSQL_TEST_LOGIN_FILE SQLITE_HISTORY
      REDISCLI_RCFILE ODBCINI ODBCSYSINI ODBCINSTINI FREETDSCONF ORACLE_HOME ORACLE_PATH SQLPATH TNS_ADMIN`,
    prefixes: 'PSQL_ LIBMYSQL_',
  },
  {
    // GS_BUCKET_NAME and the like belong to Google Cloud Storage; FONTCONFIG_PATH and TESSDATA_PREFIX name data directories.
    why: 'makes image, video, document and display programs load code, run commands or write files',
    names: `GS_LIB GS_OPTIONS GS_FONTPATH GS_DEVICE FFREPORT FFMPEG_DATADIR FREI0R_PATH LADSPA_PATH LV2_PATH VIPSHOME GVBINDIR
      GNUPLOT_LIB GNUPLOT_DRIVER_DIR GDAL_DRIVER_PATH GDAL_PYTHON_DRIVER_PATH GDAL_VRT_ENABLE_PYTHON OGR_DRIVER_PATH TEXINPUTS
      SHELL_ESCAPE SHELL_ESCAPE_COMMANDS OPENIN_ANY OPENOUT_ANY URE_BOOTSTRAP INKSCAPE_PROFILE_DIR GI_TYPELIB_PATH QML_IMPORT_PATH
      QML2_IMPORT_PATH ALSA_CONFIG_PATH ALSA_PLUGIN_DIR LIBGL_DRIVERS_PATH LIBVA_DRIVERS_PATH VDPAU_DRIVER_PATH VK_ICD_FILENAMES
      VK_DRIVER_FILES VK_LAYER_PATH VK_ADD_LAYER_PATH OCL_ICD_FILENAMES CUDA_INJECTION64_PATH`,
    prefixes: 'MAGICK_ GST_ GDK_PIXBUF_ GIO_ GTK_ QT_ TEXMF BLENDER_ __EGL_ __GLX_',
  },
];

const words = (text = ''): string[] => text.split(/\s+/).filter((word) => word !== '');

const byName = new Map(groups.flatMap(({ why, names }) => words(names).map((name) => [name, why] as const)));
const byPrefix = groups.flatMap(({ why, prefixes }) =>
  words(prefixes).map((prefix) => [prefix, why] as const),
);
const unrestricted = new Set(groups.flatMap(({ except }) => words(except)));

/** The effect of a restricted variable, phrased to follow "because it"; undefined for an unrestricted name. */
export function restrictionOf(name: string): string | undefined {
  const upper = name.toUpperCase();
  if (unrestricted.has(upper)) return undefined;
  return byName.get(upper) ?? byPrefix.find(([prefix]) => upper.startsWith(prefix))?.[1];
}
