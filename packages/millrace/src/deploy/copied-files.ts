import { readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { ProjectError } from '@millrace/diagnostics';
import { glob } from 'tinyglobby';
import type { Output } from '../bundle/build.ts';
import type { Project } from '../project/load.ts';
import { isDotenv } from './secret-values.ts';

/** Files of the project that its extensions add to a deployed version. */
export async function copiedFiles({ dir, configFile, build }: Project): Promise<Output[]> {
  const copied = new Map<string, Output>();
  const refuse = (message: string): never => {
    throw new ProjectError({ file: configFile ?? 'millrace.config.ts', line: null, column: null, message });
  };
  for (const { name, files = [] } of build.extensions) {
    for (const pattern of files) {
      const paths = await glob([pattern], {
        cwd: dir,
        dot: true,
        expandDirectories: true,
        followSymbolicLinks: false,
        ignore: ['**/node_modules/**', '**/.git/**', '.millrace/**'],
      });
      if (paths.length === 0) refuse(`no file matches "${pattern}" of ${name}`);
      for (const path of paths) {
        if (path.startsWith('..')) refuse(`"${pattern}" of ${name} is outside the project (${path})`);
        if (isDotenv(path))
          refuse(`"${pattern}" of ${name} would put ${path} into the bundle: such files contain secrets`);
        if (!(await stat(join(dir, path))).isFile()) continue;
        copied.set(path, { path, contents: await readFile(join(dir, path)) });
      }
    }
  }
  return [...copied.values()].toSorted((a, b) => (a.path < b.path ? -1 : 1));
}
