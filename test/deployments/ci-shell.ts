/** A shell of a CI service in the folder of a project whose packages are installed. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmod, mkdir, writeFile } from 'node:fs/promises';
import { delimiter, join } from 'node:path';
import { text } from 'node:stream/consumers';
import { repository } from '../cli/command.ts';
import { temporary } from '../support/deployment.ts';

export interface ShellResult {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

export type Shell = (
  script: string,
  env?: Readonly<Record<string, string>>,
  command?: readonly [string, ...string[]],
) => Promise<ShellResult>;

/** `npx` starts the command of the repository, and `npm ci` has nothing to install. `env` is the whole environment except for `PATH`. */
export async function ciShell(cwd: string, env: Readonly<Record<string, string>> = {}): Promise<Shell> {
  const bin = await temporary();
  await mkdir(bin, { recursive: true });
  const command = join(repository, 'packages/millrace/bin/millrace.js');
  const programs = {
    npx: `#!/bin/sh\nshift\nexec "${process.execPath}" "${command}" "$@"\n`,
    npm: '#!/bin/sh\n[ "$*" = ci ]\n',
    node: `#!/bin/sh\nexec "${process.execPath}" "$@"\n`,
  };
  for (const [name, script] of Object.entries(programs)) {
    await writeFile(join(bin, name), script);
    await chmod(join(bin, name), 0o755);
  }
  const PATH = `${bin}${delimiter}${process.env['PATH']}`;
  return async (script, more = {}, [file, ...args] = ['sh', '-e', '-c']) => {
    const child = spawn(file, [...args, script], {
      cwd,
      stdio: ['ignore', 'pipe', 'pipe'],
      env: { PATH, ...env, ...more },
    });
    const [[code], stdout, stderr] = await Promise.all([
      once(child, 'close') as Promise<[number | null]>,
      text(child.stdout),
      text(child.stderr),
    ]);
    return { code, stdout, stderr };
  };
}
