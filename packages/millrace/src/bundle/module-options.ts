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
    logLevel: 'silent',
  }) satisfies BuildOptions;

/** Where the module of a task file is, without its extension. */
export const outputOf = (taskFile: string): string => taskFile.replaceAll('../', '_/');

function constantsOf({ build }: Project): Record<string, string> {
  const constants: Record<string, string> = {};
  for (const { define = {} } of build.extensions)
    for (const [name, value] of Object.entries(define)) constants[name] = JSON.stringify(value);
  return constants;
}
