import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, mkdirSync, openSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { inNode } from '../network/namespaces.ts';
import type { Node } from '../network/nodes.ts';
import { systemPath } from '../prerequisites.ts';

export interface Started {
  readonly pid: number;
  /** The exit code, or null after a signal. */
  readonly exited: Promise<number | null>;
  kill(signal: NodeJS.Signals): void;
}

export interface ProcessOptions {
  readonly node: Node;
  /** The name of its log file. */
  readonly name: string;
  readonly folder: string;
  readonly cwd?: string;
  readonly user?: string;
  readonly env?: Readonly<Record<string, string>>;
}

/** Starts a program in a node. Its output goes to a log file. */
export function start(command: readonly string[], options: ProcessOptions): Started {
  const { node, name, folder, user, env = {} } = options;
  const log = join(folder, 'log', `${name}.log`);
  mkdirSync(dirname(log), { recursive: true });
  const output = openSync(log, 'a');
  const asUser = user ? ['setpriv', `--reuid=${user}`, `--regid=${user}`, '--init-groups'] : [];
  // Each of these programs replaces itself with the next one, so the process id is that of the command.
  const child = spawn('nsenter', [...inNode(node), ...asUser, ...command], {
    cwd: options.cwd ?? folder,
    env: { PATH: systemPath, LANG: 'C.UTF-8', HOME: folder, ...env },
    stdio: ['ignore', output, output],
  });
  closeSync(output);
  const exited = once(child, 'exit').then(([code]) => code as number | null);
  return { pid: child.pid ?? 0, exited, kill: (signal) => void child.kill(signal) };
}
