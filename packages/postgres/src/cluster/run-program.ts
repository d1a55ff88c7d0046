import { spawn } from 'node:child_process';
import { serverEnvironment } from './server-environment.ts';
import type { ServerUser } from './server-user.ts';

/** Runs a PostgreSQL program to its end and returns its output; rejects with the output if it failed. */
export function runProgram(
  user: ServerUser | null,
  program: string,
  args: string[],
  input: string,
  descriptors: number[],
): Promise<string> {
  return new Promise((resolve, reject) => {
    const child = spawn(program, args, {
      ...(user ? { uid: user.uid, gid: user.gid } : {}),
      cwd: '/',
      env: serverEnvironment(),
      stdio: ['pipe', 'pipe', 'pipe', ...descriptors],
      windowsHide: true,
    });
    let output = '';
    child.stdout?.setEncoding('utf8').on('data', (text: string) => (output += text));
    child.stderr?.setEncoding('utf8').on('data', (text: string) => (output += text));
    child.stdin?.on('error', () => {}); // It ended before reading: the exit code is reported.
    child.stdin?.end(input);
    child.on('error', reject);
    child.on('close', (status) => (status === 0 ? resolve(output) : reject(new Error(output))));
  });
}

/** Runs SQL statements, one per line, on a cluster whose server does not run. Connections are impossible in the meantime. */
export async function runSingleUser(
  user: ServerUser | null,
  postgres: string,
  { cluster, database, settings }: { cluster: string; database: string; settings: Record<string, string> },
  sql: string,
  descriptors: number[],
): Promise<void> {
  const all = { exit_on_error: 'on', ...settings };
  const args = Object.entries(all).flatMap(([name, value]) => ['-c', `${name}=${value}`]);
  await runProgram(user, postgres, ['--single', '-D', cluster, ...args, database], sql, descriptors);
}
