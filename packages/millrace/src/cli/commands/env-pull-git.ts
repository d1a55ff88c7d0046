import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { CommandFailed, exitCodes } from '../exit-codes.ts';
import { screenOn } from '../screen.ts';

const run = promisify(execFile);

/** Secrets in a file that `git add .` takes along are secrets published. With `force` it is said and done all the same. */
export async function refuseWhereGitTakesIt(file: string, force: boolean): Promise<void> {
  const why = await whyGitTakes(resolve(file));
  if (why === undefined) return;
  if (!force)
    throw new CommandFailed(exitCodes.failed, `${why} Nothing was written; --force writes it all the same.`);
  screenOn(process.stderr).line(`${why} It is written all the same.`);
}

async function whyGitTakes(file: string): Promise<string | undefined> {
  const folder = dirname(file);
  const repository = repositoryAbove(folder);
  if (repository === undefined) return undefined;
  const name = basename(file);
  try {
    // 0: it is ignored, and git does not have it already.
    await run('git', ['-C', folder, 'check-ignore', '--quiet', '--', name]);
    return undefined;
  } catch (error) {
    const { code, stderr = '' } = error as { code?: unknown; stderr?: string };
    if (code === 1) {
      return `git would take ${name} with all its secrets: add a line ${name.startsWith('.env') ? '.env*' : name} to ${join(repository, '.gitignore')}, and \`git rm --cached\` the file if git has it already.`;
    }
    const said = code === 'ENOENT' ? 'there is no git to ask' : stderr.trim().split('\n', 1)[0];
    return `${name} would be inside the git repository ${repository}, and whether git ignores it is not known (${said}).`;
  }
}

/** The folder whose `.git` (a file in a worktree) is the nearest. */
function repositoryAbove(folder: string): string | undefined {
  for (let at = folder; ; at = dirname(at)) {
    if (existsSync(join(at, '.git'))) return at;
    if (at === dirname(at)) return undefined;
  }
}
