import { createRequire } from 'node:module';
import { join } from 'node:path';
import type { Plugin } from 'esbuild';

/** A build extension of the published SDK, created by `@trigger.dev/build` or written in a project. */
export interface TheirExtension {
  readonly name: string;
  readonly onBuildStart?: (context: BuildContext) => unknown;
  readonly onBuildComplete?: (context: BuildContext, manifest: object) => unknown;
  readonly externalsForTarget?: (target: string) => readonly string[] | undefined;
}

interface Layer {
  readonly id?: string;
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly commands?: readonly string[];
  readonly image?: { readonly pkgs?: readonly string[]; readonly instructions?: readonly string[] };
  readonly deploy?: {
    readonly env?: Values;
    /** For a branch: the variables of its parent. */
    readonly parentEnv?: Values;
    readonly secretEnv?: Values;
    readonly secretParentEnv?: Values;
    /** Default true. */
    readonly override?: boolean;
  };
}

type Values = Readonly<Record<string, string>>;

/** Variables that an extension sets in the environment of the deployment. */
export interface SyncedVariables {
  readonly values: Values;
  readonly parentValues: Values;
  readonly isSecret: boolean;
  /** If false, variables that are already set are not changed. */
  readonly override: boolean;
}

/** The environment of a project's deployment, for its extensions. */
export interface ExtensionTarget {
  readonly projectRef: string;
  /** `prod`, `staging` or `preview`. */
  readonly environment: string;
  readonly branch: string | undefined;
  /** The variables of that environment. */
  readonly env: Values;
}

type BuildContext = ReturnType<typeof contextOf>['context'];

/** The effect of a project's extensions on its builds. */
export interface Extensions {
  readonly list: readonly TheirExtension[];
  /** Messages about differences in behavior. */
  readonly notes: readonly string[];
}

const machine = (what: string): string =>
  `install ${what} on the machines of your runners, and start those with \`millrace work --label\``;

/** Unsupported extensions, and their alternatives. */
const refused: Readonly<Record<string, string>> = {
  PythonExtension: `Python is not part of a deployment here. Remove the extension, ${machine('Python and its packages')}, and start scripts with node:child_process`,
  lightpanda: `browsers are not part of a deployment here. Remove the extension, and ${machine('the browser')}`,
};

/** Extensions whose effect is available in another way. */
const replaced: Readonly<Record<string, string>> = {
  aptGet: machine('the packages'),
  ffmpeg: machine('ffmpeg'),
  AudioWaveformExtension: machine('audiowaveform'),
  PuppeteerExtension: machine('Chromium'),
  PlaywrightExtension: machine('the browsers of Playwright'),
  PrismaExtension: 'run `prisma generate` before `millrace deploy`',
  PrismaEngineOnlyModeExtension: 'run `prisma generate` before `millrace deploy`',
  PrismaEngineModernModeExtension: 'run `prisma generate` before `millrace deploy`',
};

/** Whether an extension only sets variables, such as `SyncEnvVarsExtension`. */
export const setsVariables = (extension: string): boolean => /env-?vars/i.test(extension);

/** Reads the extensions of a configuration. Returns an error message if one is rejected. */
export function readExtensions(extensions: readonly unknown[]): Extensions | string {
  const list: TheirExtension[] = [];
  const notes: string[] = [];
  for (const extension of extensions) {
    const name = (extension as { name?: unknown } | null | undefined)?.name;
    if (typeof name !== 'string')
      return '"build.extensions" has something that is not an extension: it has no name';
    if (Object.hasOwn(refused, name)) return `the extension ${name} does not work here: ${refused[name]}`;
    if (Object.hasOwn(replaced, name))
      notes.push(`the extension ${name} does nothing here: ${replaced[name]}`);
    else list.push(extension as TheirExtension);
  }
  return { list, notes };
}

export interface Started {
  /** esbuild plugins. */
  readonly plugins: readonly Plugin[];
  /** Packages that are installed into the layer. */
  readonly packages: readonly string[];
}

export interface Completed {
  readonly packages: readonly string[];
  readonly variables: readonly SyncedVariables[];
}

/** The additions of extensions to a build. Throws a descriptive error if one requests something that a build here does not support. */
export async function startExtensions(
  { list }: Extensions,
  projectDir: string,
  target: 'dev' | 'deploy',
): Promise<Started> {
  const plugins: Plugin[] = [];
  const packages = new Set<string>();
  for (const extension of list) {
    for (const name of extension.externalsForTarget?.(target) ?? []) packages.add(name);
    const { context, added } = contextOf(projectDir, target);
    await extension.onBuildStart?.(context);
    plugins.push(...added.plugins);
    for (const layer of added.layers)
      for (const name of packagesOf(extension.name, layer)) packages.add(name);
  }
  return { plugins, packages: [...packages] };
}

/** Lets extensions write files of a deployment into a folder and returns the variables that they set. */
export async function completeExtensions(
  { list }: Extensions,
  projectDir: string,
  outputPath: string,
  { projectRef, environment, branch, env }: ExtensionTarget,
): Promise<Completed> {
  const packages = new Set<string>();
  const variables: SyncedVariables[] = [];
  for (const extension of list) {
    const { context, added } = contextOf(projectDir, 'deploy', projectRef);
    const manifest = {
      outputPath,
      target: 'deploy',
      deploy: { env },
      build: {},
      environment,
      branch,
      files: [],
    };
    await extension.onBuildComplete?.(context, manifest);
    for (const layer of added.layers) {
      for (const name of packagesOf(extension.name, layer)) packages.add(name);
      variables.push(...variablesOf(layer));
    }
  }
  return { packages: [...packages], variables };
}

/** These variables are for this server, and the published SDK's deployments do not set them either. */
const notSynced = /^(?:TRIGGER|MILLRACE)_/;

function variablesOf({ deploy = {} }: Layer): SyncedVariables[] {
  const { env, parentEnv, secretEnv, secretParentEnv, override = true } = deploy;
  const settable = (values: Values = {}): Values =>
    Object.fromEntries(Object.entries(values).filter(([name]) => !notSynced.test(name)));
  return [
    { values: settable(env), parentValues: settable(parentEnv), isSecret: false, override },
    { values: settable(secretEnv), parentValues: settable(secretParentEnv), isSecret: true, override },
  ].filter(({ values, parentValues }) => Object.keys({ ...values, ...parentValues }).length > 0);
}

/** The possible results of a configuration's `resolveEnvVars`. */
interface Resolved {
  readonly variables: Values | readonly { readonly name: string; readonly value: string }[];
  readonly override?: boolean;
}

type Resolve = (params: object) => Promise<Resolved | undefined> | Resolved | undefined;

/** A configuration's `resolveEnvVars` converted to an extension, which replaced it. */
export const resolving = (resolve: Resolve): TheirExtension => ({
  name: 'resolveEnvVars',
  async onBuildComplete(context, manifest) {
    const { environment, deploy } = manifest as { environment: string; deploy: { env: Values } };
    const resolved = await resolve({ projectRef: context.config.project, environment, env: deploy.env });
    if (!resolved) return;
    const { variables, override } = resolved;
    const env = isList(variables)
      ? Object.fromEntries(variables.map(({ name, value }) => [name, value]))
      : variables;
    context.addLayer({ id: 'resolveEnvVars', deploy: { env, ...(override !== undefined && { override }) } });
  },
});

/** `deploy.env` of a configuration converted to an extension. */
export const deployEnvVars = (env: Values): TheirExtension => ({
  name: 'deployEnvVars',
  onBuildComplete: (context) => context.addLayer({ id: 'deployEnvVars', deploy: { env } }),
});

const isList = (value: Resolved['variables']): value is Extract<Resolved['variables'], readonly unknown[]> =>
  Array.isArray(value);

function packagesOf(extension: string, { dependencies = {}, commands = [], image }: Layer): string[] {
  const what =
    (image?.pkgs?.length ?? 0) + (image?.instructions?.length ?? 0) > 0
      ? 'system packages'
      : commands.length > 0
        ? 'commands in the image'
        : undefined;
  if (what !== undefined)
    throw new Error(
      `the extension ${extension} requires ${what}, which deployments here do not support: remove it`,
    );
  return Object.keys(dependencies);
}

/** Their `BuildContext`, reduced to what extensions without an image need. */
function contextOf(projectDir: string, target: 'dev' | 'deploy', project?: string) {
  const added: { readonly plugins: Plugin[]; readonly layers: Layer[] } = { plugins: [], layers: [] };
  const say = (): undefined => undefined;
  const context = {
    target,
    workingDir: projectDir,
    config: { workingDir: projectDir, project },
    logger: {
      debug: say,
      log: say,
      info: say,
      warn: console.warn,
      progress: say,
      spinner: () => ({ stop: say, message: say }),
    },
    addLayer: (layer: Layer) => void added.layers.push(layer),
    registerPlugin: (plugin: Plugin, options: { target?: string; placement?: string } = {}) => {
      if (options.target !== undefined && options.target !== target) return;
      if (options.placement === 'first') added.plugins.unshift(plugin);
      else added.plugins.push(plugin);
    },
    async resolvePath(name: string): Promise<string | undefined> {
      try {
        return createRequire(join(projectDir, 'package.json')).resolve(name);
      } catch {
        return undefined;
      }
    },
  };
  return { context, added };
}
