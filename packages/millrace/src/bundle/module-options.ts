import { join } from 'node:path';
import type { Entry } from '@millrace/runner';
import type { BuildOptions, Metafile } from 'esbuild';
import type { Project } from '../project/load.ts';
import { banner, moduleConstants } from './source-path.ts';

/** The common options of builds for development and for deployment: task files become modules, and shared code becomes separate modules. */
export const moduleOptions = (project: Project) =>
  ({
    absWorkingDir: project.dir,
    write: false,
    metafile: true,
    bundle: true,
    splitting: true,
    format: 'esm',
    platform: 'node',
    sourcemap: 'linked',
    sourcesContent: true,
    keepNames: true,
    chunkNames: 'shared/[name]-[hash]',
    outExtension: { '.js': '.mjs' },
    banner: { js: banner },
    define: { ...moduleConstants, ...constantsOf(project) },
    ...publishedOptions(project),
    logLevel: 'silent',
  }) satisfies BuildOptions;

/** The effects of `build` in a `trigger.config.ts`. */
function publishedOptions({
  dir,
  published,
}: Project): Pick<BuildOptions, 'jsx' | 'jsxFactory' | 'jsxFragment' | 'tsconfig' | 'conditions'> {
  if (!published) return {};
  const { conditions, jsx } = published.config;
  const tsconfig = tsconfigOf({ dir, published });
  return {
    ...(jsx.automatic !== false && { jsx: 'automatic' }),
    ...(jsx.factory !== undefined && { jsxFactory: jsx.factory }),
    ...(jsx.fragment !== undefined && { jsxFragment: jsx.fragment }),
    ...(tsconfig !== undefined && { tsconfig }),
    ...(conditions.length > 0 && { conditions: ['module', ...conditions] }),
  };
}

/** The tsconfig that a `trigger.config.ts` names for all files, absolute. */
export const tsconfigOf = ({ dir, published }: Pick<Project, 'dir' | 'published'>): string | undefined =>
  published?.config.tsconfig === undefined ? undefined : join(dir, published.config.tsconfig);

/** The path of a task file's module, without its extension. */
export const outputOf = (taskFile: string): string => taskFile.replaceAll('../', '_/');

/** The entries of a build. esbuild also reports dynamically imported modules as entry points; these only execute when they are imported. */
export const entriesOf = (taskFiles: readonly string[]): Entry[] =>
  taskFiles.map((source) => ({ source, module: `${outputOf(source)}.mjs` }));

/** The source files of a build, relative to the project, without the modules of plugins. */
export const filesOf = ({ inputs }: Metafile): string[] =>
  Object.keys(inputs).filter((path) => !/^[a-z][\w-]+:/.test(path));

function constantsOf({ build }: Project): Record<string, string> {
  const constants: Record<string, string> = {};
  for (const { define = {} } of build.extensions)
    for (const [name, value] of Object.entries(define)) constants[name] = JSON.stringify(value);
  return constants;
}
