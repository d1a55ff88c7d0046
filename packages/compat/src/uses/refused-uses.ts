import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Problem } from '@millrace/diagnostics';
import type { ProjectWithPublished } from '../project/plugins.ts';
import { type Finding, usesOf } from './uses.ts';

/** The problem of an unsupported use. */
export const problemOf = ({ file, line, column, name, note }: Finding): Problem => ({
  file,
  line,
  column,
  message: `${name}: not supported by Millrace: ${note}`,
});

/**
 * The uses of exports and options that do not work here, in a project that uses the published SDK. `files` are its own files, relative to it,
 * from which its task files are built.
 */
export async function refusedUses(
  { dir, published }: ProjectWithPublished,
  files: readonly string[],
): Promise<readonly Problem[]> {
  if (!published) return [];
  const found = await Promise.all(
    files.filter(isCode).map(async (file) => {
      const text = await readFile(join(dir, file), 'utf8');
      // Most files of a project use neither the package nor triggers.
      return /trigger/i.test(text) ? usesOf(file, text, published.version).findings : [];
    }),
  );
  return found
    .flat()
    .filter(({ state }) => state === 'not')
    .map(problemOf);
}

const isCode = (file: string): boolean =>
  /\.[cm]?[jt]sx?$/.test(file) && !file.split('/').includes('node_modules');
