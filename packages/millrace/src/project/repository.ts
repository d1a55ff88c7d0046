import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';

/** The folder of the nearest `.git` (a file in a worktree), from a folder upwards. */
export function repositoryAbove(folder: string): string | undefined {
  for (let at = folder; ; at = dirname(at)) {
    if (existsSync(join(at, '.git'))) return at;
    if (at === dirname(at)) return undefined;
  }
}
