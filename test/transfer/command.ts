/** Runs the command in this process, with the key of a server. */
import { vi } from 'vitest';
import { main } from '../../packages/millrace/src/cli/main.ts';
import type { TestServer } from '../support/server.ts';

interface CommandResult {
  readonly exitCode: number;
  readonly stdout: string;
  readonly stderr: string;
}

export async function run(
  server: TestServer,
  args: readonly string[],
  key = server.keys.prod,
): Promise<CommandResult> {
  let [stdout, stderr] = ['', ''];
  vi.spyOn(process.stdout, 'write').mockImplementation((text) => ((stdout += String(text)), true));
  vi.spyOn(process.stderr, 'write').mockImplementation((text) => ((stderr += String(text)), true));
  const exitCode = await main([...args, '--url', server.url, '--key', key]);
  vi.restoreAllMocks();
  process.exitCode = undefined;
  return { exitCode, stdout, stderr };
}

export type Line = Readonly<Record<string, unknown>>;

export const linesOf = (text: string): Line[] =>
  text
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as Line);

/** The records of some kinds, as `millrace export` writes them. */
export async function exported(server: TestServer, only: string): Promise<Line[]> {
  const { exitCode, stdout, stderr } = await run(server, ['export', '-', '--only', only]);
  if (exitCode !== 0) throw new Error(stderr);
  return linesOf(stdout).slice(1, -1);
}

/** The action of an import for each record of a file, without the summary in the last line. */
export async function imported(
  server: TestServer,
  file: string,
  { args = [], key }: { readonly args?: readonly string[]; readonly key?: string } = {},
): Promise<{ readonly exitCode: number; readonly steps: Line[] }> {
  const { exitCode, stdout, stderr } = await run(
    server,
    ['import', 'environment', file, '--json', ...args],
    key,
  );
  if (stdout === '') throw new Error(stderr);
  return { exitCode, steps: linesOf(stdout).slice(0, -1) };
}
