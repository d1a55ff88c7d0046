/**
 * Names that steer a process or what it starts: their values run code, load files as code, write files, or take away the protection of
 * connections. Only administrators may set or remove them. Pure.
 *
 * Names are compared in upper case: Windows takes `node_options` for `NODE_OPTIONS`, and a runner may be there.
 *
 * A list can name what common programs read, not what every program does. What a task starts with its variables is the task's choice.
 */

interface Group {
  /** What these can do, in a few words that follow "because it". */
  readonly why: string;
  readonly names?: readonly string[];
  /** Every name that begins so. */
  readonly prefixes?: readonly string[];
}

const groups: readonly Group[] = [
  {
    // Node reads them at its start, in processes and workers that a task starts. NODE_ENV and NODE_DEBUG stay free.
    why: 'makes Node.js run code, load files or write files',
    names: [
      'NODE_OPTIONS',
      'NODE_PATH',
      'NODE_REPL_EXTERNAL_MODULE',
      'NODE_REPL_HISTORY',
      'NODE_V8_COVERAGE',
      'NODE_COMPILE_CACHE',
      'NODE_COMPILE_CACHE_PORTABLE',
      'NODE_DISABLE_COMPILE_CACHE',
      'NODE_ICU_DATA',
      'NODE_REDIRECT_WARNINGS',
      'NODE_PRESERVE_SYMLINKS',
      'NODE_PRESERVE_SYMLINKS_MAIN',
      'NODE_CHANNEL_FD',
      'NODE_CHANNEL_SERIALIZATION_MODE',
      'NODE_UNIQUE_ID',
      'NODE_TEST_CONTEXT',
      'ELECTRON_RUN_AS_NODE',
    ],
    // Package managers take any of their settings from such names: the shell of scripts, the registry, a script to load.
    prefixes: ['NPM_CONFIG_', 'YARN_', 'PNPM_', 'COREPACK_', 'BUN_', 'DENO_'],
  },
  {
    why: 'makes the dynamic linker or the C library load code',
    names: [
      'GCONV_PATH',
      'GETCONF_DIR',
      'GLIBC_TUNABLES',
      'LOCPATH',
      'NLSPATH',
      'MALLOC_TRACE',
      'HOSTALIASES',
      'LOCALDOMAIN',
      'RES_OPTIONS',
      'RESOLV_HOST_CONF',
      'LIBPATH',
      'SHLIB_PATH',
    ],
    prefixes: ['LD_', 'DYLD_', '_RLD_'],
  },
  {
    why: 'decides which programs are started, or what a shell runs first',
    names: [
      'PATH',
      'PATHEXT',
      'COMSPEC',
      'SYSTEMROOT',
      'WINDIR',
      'PSMODULEPATH',
      'SHELL',
      'BASH_ENV',
      'ENV',
      'SHELLOPTS',
      'BASHOPTS',
      'BASH_XTRACEFD',
      'BASH_LOADABLES_PATH',
      'PROMPT_COMMAND',
      'PS0',
      'PS1',
      'PS2',
      'PS4',
      'IFS',
      'CDPATH',
      'EXECIGNORE',
      'GLOBIGNORE',
      'ZDOTDIR',
      'FPATH',
    ],
    prefixes: ['BASH_FUNC_'],
  },
  {
    // Git, npm, ssh and shells find their configuration there, and that names programs to run.
    why: 'decides where programs look for their configuration',
    names: ['HOME', 'USERPROFILE', 'HOMEDRIVE', 'HOMEPATH', 'APPDATA', 'XDG_CONFIG_HOME', 'XDG_CONFIG_DIRS'],
  },
  {
    why: 'weakens or records encrypted connections, or loads code into their library',
    names: [
      'NODE_EXTRA_CA_CERTS',
      'NODE_TLS_REJECT_UNAUTHORIZED',
      'NODE_USE_SYSTEM_CA',
      'NODE_USE_ENV_PROXY',
      'SSLKEYLOGFILE',
      'CURL_CA_BUNDLE',
      'CURL_HOME',
      'REQUESTS_CA_BUNDLE',
      'AWS_CA_BUNDLE',
      'PGSSLKEY',
      'SSH_SK_PROVIDER',
    ],
    prefixes: ['SSL_CERT_', 'OPENSSL_'],
  },
  {
    why: 'makes an interpreter that a task starts run or load other code',
    names: [
      'RUBYOPT',
      'RUBYLIB',
      'GEM_HOME',
      'GEM_PATH',
      'BUNDLE_GEMFILE',
      'PHPRC',
      'PHP_INI_SCAN_DIR',
      'JAVA_TOOL_OPTIONS',
      'JDK_JAVA_OPTIONS',
      '_JAVA_OPTIONS',
      'CLASSPATH',
      'TCLLIBPATH',
      'R_PROFILE',
      'R_PROFILE_USER',
      'R_ENVIRON',
      'R_ENVIRON_USER',
      'R_HOME',
      'DOTNET_STARTUP_HOOKS',
      'DOTNET_ADDITIONAL_DEPS',
      'DOTNET_SHARED_STORE',
    ],
    prefixes: ['PYTHON', 'PERL', 'LUA_', 'DOTNET_ROOT', 'CORECLR_', 'COR_', 'COMPLUS_'],
  },
  {
    // Of Git only what runs or loads something: GIT_SHA, GIT_BRANCH and the like are facts that deployments pass on.
    why: 'makes Git run programs, read other configuration or write files',
    names: [
      'GIT_ASKPASS',
      'GIT_EDITOR',
      'GIT_SEQUENCE_EDITOR',
      'GIT_PAGER',
      'GIT_EXEC_PATH',
      'GIT_EXTERNAL_DIFF',
      'GIT_PROXY_COMMAND',
      'GIT_TEMPLATE_DIR',
      'GIT_DIR',
      'GIT_COMMON_DIR',
      'GIT_WORK_TREE',
      'GIT_INDEX_FILE',
      'GIT_OBJECT_DIRECTORY',
      'GIT_ALTERNATE_OBJECT_DIRECTORIES',
      'GIT_ATTR_SOURCE',
      'GIT_ALLOW_PROTOCOL',
    ],
    prefixes: ['GIT_SSH', 'GIT_CONFIG', 'GIT_SSL_', 'GIT_TRACE', 'GIT_REDIRECT_'],
  },
  {
    why: 'names a program that other programs start',
    names: [
      'EDITOR',
      'VISUAL',
      'PAGER',
      'MANPAGER',
      'BROWSER',
      'LESSOPEN',
      'LESSCLOSE',
      'SSH_ASKPASS',
      'SUDO_ASKPASS',
      'MAKEFLAGS',
      'GNUMAKEFLAGS',
      'MFLAGS',
      'MAKEFILES',
      'RUSTC_WRAPPER',
      'GCC_EXEC_PREFIX',
    ],
  },
];

const byName = new Map(groups.flatMap(({ why, names = [] }) => names.map((name) => [name, why] as const)));
const byPrefix = groups.flatMap(({ why, prefixes = [] }) => prefixes.map((prefix) => [prefix, why] as const));

/** What the variable could do, in words that follow "because it"; undefined for one that steers nothing. */
export function whySteering(name: string): string | undefined {
  const upper = name.toUpperCase();
  return byName.get(upper) ?? byPrefix.find(([prefix]) => upper.startsWith(prefix))?.[1];
}
