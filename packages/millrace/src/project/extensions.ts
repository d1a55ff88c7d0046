/**
 * Build hooks of `millrace.config.ts`. This file is compiled into the configuration of a project, so it imports nothing.
 */

/** The context of an extension's hook. */
export interface BuildContext {
  /** The folder of the project, absolute. */
  readonly projectDir: string;
  /** Runs a command line in a shell, in the project's folder. Rejects if it fails; `millrace deploy` then ends with exit code 3. */
  readonly run: (command: string) => Promise<void>;
}

/** Changes the build of a project: `build.extensions` of `millrace.config.ts`. */
export interface BuildExtension {
  /** Used in messages. */
  readonly name: string;
  /** Called by `millrace deploy` before task files are bundled, in the order of the extensions. */
  readonly beforeBuild?: (context: BuildContext) => void | Promise<void>;
  /** Names in the code that are replaced with constants (values of JSON), in `millrace dev` too. */
  readonly define?: Readonly<Record<string, unknown>>;
  /** Files of the project that a deployed version contains, as glob patterns relative to the project. */
  readonly files?: readonly string[];
  /** Packages installed into the layer even though no code imports them by name. */
  readonly packages?: readonly string[];
}

/**
 * Adds files of the project to a deployed version, at the same path. A task reads them relative to its working folder.
 *
 * @example
 * extensions: [copyFiles('templates/**', 'fonts/*.ttf')]
 */
export const copyFiles = (...patterns: string[]): BuildExtension => ({ name: 'copyFiles', files: patterns });

/**
 * Runs a command in the project's folder before its task files are bundled, such as a code generator.
 *
 * @example
 * extensions: [runCommand('npx prisma generate')]
 */
export const runCommand = (command: string): BuildExtension => ({
  name: `runCommand(${command})`,
  beforeBuild: ({ run }) => run(command),
});

/**
 * Replaces names in the code with constants.
 *
 * @example
 * extensions: [defineConstants({ __RELEASE__: '2026-11', 'process.env.NODE_ENV': 'production' })]
 */
export const defineConstants = (constants: Readonly<Record<string, unknown>>): BuildExtension => ({
  name: 'defineConstants',
  define: constants,
});

/**
 * Installs packages into the layer that the code loads by a computed name, such as database drivers and plugins.
 *
 * @example
 * extensions: [addPackages('pg', 'pino-pretty')]
 */
export const addPackages = (...packages: string[]): BuildExtension => ({ name: 'addPackages', packages });
