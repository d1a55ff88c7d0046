import { readFile, stat } from 'node:fs/promises';
import { dirname, join, relative } from 'node:path';
import { slashes } from './messages.ts';

/** A file that the code of a project refers to by a path relative to itself. Both are relative to the project. */
export interface NamedFile {
  readonly path: string;
  readonly namedBy: string;
}

/** `new URL('./worker.ts', import.meta.url)` and `join(__dirname, 'worker.js')`. */
const besideItself =
  /\bnew\s+URL\(\s*(["'`])([^"'`$\n:]+)\1\s*,\s*import\s*\.\s*meta\s*\.\s*url\s*\)|\b(?:join|resolve)\(\s*(?:__dirname|import\s*\.\s*meta\s*\.\s*dirname)\s*,\s*(["'`])([^"'`$\n]+)\3\s*\)/g;

/** The files of a project that the given files refer to. */
export async function namedFiles(projectDir: string, files: Iterable<string>): Promise<NamedFile[]> {
  const named: NamedFile[] = [];
  const below = (file: string): string => slashes(relative(projectDir, file));
  for (const file of files) {
    if (below(file).startsWith('../')) continue;
    const code = await readFile(file, 'utf8');
    for (const [, , url, , path = url ?? ''] of code.matchAll(besideItself)) {
      const target = join(dirname(file), path);
      const isFile = await stat(target).then(
        (found) => found.isFile(),
        () => false,
      );
      if (isFile && !below(target).startsWith('../'))
        named.push({ path: below(target), namedBy: below(file) });
    }
  }
  return named;
}
