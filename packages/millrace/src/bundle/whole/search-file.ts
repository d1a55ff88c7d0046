import { readFile } from 'node:fs/promises';
import { withEsbuild } from '../with-esbuild.ts';

/** The result of a search in the code of a file, which may be TypeScript; `unreadable` if it is neither. */
export async function searchFile<T>(file: string, find: (code: string) => T): Promise<T | 'unreadable'> {
  const code = await readFile(file, 'utf8').catch(() => '');
  try {
    return find(code);
  } catch {
    // TypeScript, JSX, or syntax newer than this parser.
  }
  try {
    const loader = /\.[cm]?ts$/.test(file) ? 'ts' : 'tsx';
    const { code: plain } = await withEsbuild((esbuild) =>
      esbuild.transform(code, { loader, target: 'node20', logLevel: 'silent' }),
    );
    return find(plain);
  } catch {
    return 'unreadable';
  }
}
