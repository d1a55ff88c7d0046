import { execFile } from 'node:child_process';
import { basename, dirname, join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { repositoryAbove } from '../../project/repository.ts';
import { CommandFailed, exitCodes } from '../exit-codes.ts';
import { screenOn } from '../screen.ts';

const run = promisify(execFile);

/** Secrets in a file that `git add .` includes will be published. With `force` the command only warns. */
export async function refuseWhereGitTakesIt(file: string, force: boolean): Promise<void> {
  const why = await whyGitTakes(resolve(file));
  if (why === undefined) return;
  if (!force)
    throw new CommandFailed(exitCodes.failed, `${why} Nothing was written; --force writes it anyway.`);
  screenOn(process.stderr).line(`${why} Writing it anyway.`);
}

async function whyGitTakes(file: string): Promise<string | undefined> {
  const folder = dirname(file);
  const repository = repositoryAbove(folder);
  if (repository === undefined) return undefined;
  const name = basename(file);
  const git = (...args: string[]) => run('git', ['-C', folder, ...args, '--', name]);
  try {
    // 0: it is ignored and not tracked.
    await git('check-ignore', '--quiet');
    return undefined;
  } catch (error) {
    const { code, stderr = '' } = error as { code?: unknown; stderr?: string };
    if (code !== 1) {
      const reason = code === 'ENOENT' ? 'git is not installed' : stderr.trim().split('\n', 1)[0];
      return `${name} is inside the git repository ${repository}, and Millrace cannot determine whether git ignores it (${reason}).`;
    }
  }
  // Fails if git does not track the file, or if no line of .gitignore matches it.
  const orNothing = (pending: Promise<{ stdout: string }>): Promise<string> =>
    pending.then(
      ({ stdout }) => stdout.trim(),
      () => '',
    );
  const tracked = await orNothing(git('ls-files', '--error-unmatch'));
  // `<file>:<line>:<pattern>\t<name>`, the last matching line, which may also be a negation.
  const rule = (await orNothing(git('check-ignore', '--verbose', '--no-index'))).replace(/\t[^\t]*$/, '');
  const [, where = '', pattern = ''] = /^(.+?:\d+):(.+)$/.exec(rule) ?? [];
  const steps = [
    ...(tracked === '' ? [] : [`remove it from git with \`git rm --cached ${name}\``]),
    ...(pattern.startsWith('!')
      ? [`remove the line ${pattern} (${where}), or choose another file name`]
      : []),
    ...(pattern === ''
      ? [`add a line ${name.startsWith('.env') ? '.env*' : name} to ${join(repository, '.gitignore')}`]
      : []),
  ];
  return `git does not ignore ${name}, which contains all secrets: ${steps.join(', and ')}.`;
}
