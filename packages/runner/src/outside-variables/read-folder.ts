import { readdir, readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { checkVariable } from './check.ts';
import { VariablesUnread } from './errors.ts';

/**
 * A folder in which each file is a variable: its name, and its text without the line end. This is how Docker and Kubernetes mount secrets.
 * Names that begin with a dot, and folders, are skipped: Kubernetes keeps the real files in `..data`.
 */
export async function readFolder(folder: string): Promise<Record<string, string>> {
  try {
    const names = (await readdir(folder)).filter((name) => !name.startsWith('.'));
    const entries: [string, string][] = [];
    for (const name of names.toSorted()) {
      const file = join(folder, name);
      if (!(await stat(file)).isFile()) continue;
      const text = await readFile(file, 'utf8');
      entries.push(checkVariable(`The folder ${folder}`, name, text.replace(/\r?\n$/, '')));
    }
    return Object.fromEntries(entries);
  } catch (error) {
    if (error instanceof VariablesUnread) throw error;
    throw new VariablesUnread(
      `The variables in the folder ${folder} cannot be read: ${(error as Error).message}. It must exist, and its files must be readable by this user.`,
    );
  }
}
