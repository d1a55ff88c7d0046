import { createRequire } from 'node:module';
import { join } from 'node:path';
import type { Plugin } from 'esbuild';

/** A build extension of the published SDK, as `@trigger.dev/build` makes it and projects write their own. */
interface TheirExtension {
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
  readonly deploy?: { readonly env?: object };
  readonly build?: { readonly env?: object };
}

type BuildContext = ReturnType<typeof contextOf>['context'];

/** What the extensions of a project do to its builds here. */
export interface Extensions {
  readonly list: readonly TheirExtension[];
  /** What they do differently here: a sentence each. */
  readonly notes: readonly string[];
}

const machine = (what: string): string =>
  `install ${what} on the machines of your runners, and start those with \`millrace work --label\``;

/** Extensions that cannot work, and what to do instead. */
const refused: Readonly<Record<string, string>> = {
  PythonExtension: `Python is not part of a deployment here. Remove the extension, ${machine('Python and its packages')}, and start scripts with node:child_process`,
  lightpanda: `browsers are not part of a deployment here. Remove the extension, and ${machine('the browser')}`,
};

/** Extensions whose effect is that of something else here. */
const replaced: Readonly<Record<string, string>> = {
  aptGet: machine('the packages'),
  ffmpeg: machine('ffmpeg'),
  AudioWaveformExtension: machine('audiowaveform'),
  PuppeteerExtension: machine('Chromium'),
  PlaywrightExtension: machine('the browsers of Playwright'),
  PrismaExtension: 'run `prisma generate` before `millrace deploy`',
  PrismaEngineOnlyModeExtension: 'run `prisma generate` before `millrace deploy`',
  PrismaEngineModernModeExtension: 'run `prisma generate` before `millrace deploy`',
  SyncEnvVarsExtension: 'set variables with `millrace env set`',
  SyncVercelEnvVarsExtension: 'set variables with `millrace env set`',
  SyncNeonEnvVarsExtension: 'set variables with `millrace env set`',
  SyncSupabaseEnvVarsExtension: 'set variables with `millrace env set`',
};

/** Takes the extensions of a configuration. A string is the sentence that refuses one. */
export function readExtensions(given: readonly unknown[]): Extensions | string {
  const list: TheirExtension[] = [];
  const notes: string[] = [];
  for (const one of given) {
    const name = (one as { name?: unknown } | null | undefined)?.name;
    if (typeof name !== 'string')
      return '"build.extensions" has something that is not an extension: it has no name';
    if (Object.hasOwn(refused, name)) return `the extension ${name} does not work here: ${refused[name]}`;
    if (Object.hasOwn(replaced, name))
      notes.push(`the extension ${name} does nothing here: ${replaced[name]}`);
    else list.push(one as TheirExtension);
  }
  return { list, notes };
}

export interface Started {
  /** Plugins of esbuild. */
  readonly plugins: readonly Plugin[];
  /** Packages that are installed into the layer. */
  readonly packages: readonly string[];
}

/** What extensions add to a build. Throws an error with a sentence if one asks for what a build here does not have. */
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

/** Lets extensions write files of a deployment into a folder. */
export async function completeExtensions(
  { list }: Extensions,
  projectDir: string,
  outputPath: string,
): Promise<string[]> {
  const packages = new Set<string>();
  for (const extension of list) {
    const { context, added } = contextOf(projectDir, 'deploy');
    const manifest = {
      outputPath,
      target: 'deploy',
      deploy: { env: {} },
      build: {},
      environment: 'prod',
      files: [],
    };
    await extension.onBuildComplete?.(context, manifest);
    for (const layer of added.layers)
      for (const name of packagesOf(extension.name, layer)) packages.add(name);
  }
  return [...packages];
}

function packagesOf(extension: string, { dependencies = {}, commands = [], image, deploy }: Layer): string[] {
  const what =
    (image?.pkgs?.length ?? 0) + (image?.instructions?.length ?? 0) > 0
      ? 'packages of the system'
      : commands.length > 0
        ? 'commands in its image'
        : deploy?.env && Object.keys(deploy.env).length > 0
          ? 'variables of the environment'
          : undefined;
  if (what !== undefined)
    throw new Error(
      `the extension ${extension} asks for ${what}, which a deployment here does not have: remove it`,
    );
  return Object.keys(dependencies);
}

/** Their `BuildContext`, as far as extensions without an image need it. */
function contextOf(projectDir: string, target: 'dev' | 'deploy') {
  const added: { readonly plugins: Plugin[]; readonly layers: Layer[] } = { plugins: [], layers: [] };
  const say = (): undefined => undefined;
  const context = {
    target,
    workingDir: projectDir,
    config: { workingDir: projectDir },
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
