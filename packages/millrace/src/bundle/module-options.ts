import { join } from 'node:path';
import type { BuildOptions } from 'esbuild';
import type { Project } from '../project/load.ts';

/** What builds for development and for deployment have in common: task files become modules, and what they share becomes modules of its own. */
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
    define: constantsOf(project),
    ...publishedOptions(project),
    logLevel: 'silent',
  }) satisfies BuildOptions;

/** What `build` of a `trigger.config.ts` changes. */
function publishedOptions({
  dir,
  published,
}: Project): Pick<BuildOptions, 'jsx' | 'jsxFactory' | 'jsxFragment' | 'tsconfig' | 'conditions'> {
  if (!published) return {};
  const { conditions, jsx, tsconfig } = published.config;
  return {
    ...(jsx.automatic !== false && { jsx: 'automatic' }),
    ...(jsx.factory !== undefined && { jsxFactory: jsx.factory }),
    ...(jsx.fragment !== undefined && { jsxFragment: jsx.fragment }),
    ...(tsconfig !== undefined && { tsconfig: join(dir, tsconfig) }),
    ...(conditions.length > 0 && { conditions: ['module', ...conditions] }),
  };
}

/** Where the module of a task file is, without its extension. */
export const outputOf = (taskFile: string): string => taskFile.replaceAll('../', '_/');

function constantsOf({ build }: Project): Record<string, string> {
  const constants: Record<string, string> = {};
  for (const { define = {} } of build.extensions)
    for (const [name, value] of Object.entries(define)) constants[name] = JSON.stringify(value);
  return constants;
}
