import { execFileSync } from 'node:child_process';
import { repository } from './files.ts';

/** Whether a line was added or changed since a revision, or is in a new file. */
export function changedSince(revision: string): (path: string, line: number) => boolean {
  const git = (...args: string[]): string =>
    execFileSync('git', args, { cwd: repository, encoding: 'utf8', maxBuffer: 2 ** 28 });
  const untracked = new Set(git('ls-files', '--others', '--exclude-standard').split('\n'));
  const changed = addedLines(git('diff', '-U0', '--no-color', '--no-ext-diff', revision));
  return (path, line) => untracked.has(path) || (changed.get(path)?.has(line) ?? false);
}

/** The numbers of the lines that a diff without context adds, by path. */
export function addedLines(diff: string): Map<string, Set<number>> {
  const files = new Map<string, Set<number>>();
  let lines = new Set<number>();
  for (const row of diff.split('\n')) {
    const [, path] = /^\+\+\+ b\/(.*)$/.exec(row) ?? [];
    if (path !== undefined) files.set(path, (lines = new Set()));
    const [, start, count = '1'] = /^@@ -\S+ \+(\d+)(?:,(\d+))? @@/.exec(row) ?? [];
    for (let each = 0; start !== undefined && each < Number(count); each++) lines.add(Number(start) + each);
  }
  return files;
}
