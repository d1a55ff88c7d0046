/** The real command in a real process: `bin/millrace.js` on the build. */
import { spawn, type ChildProcessByStdio } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, mkdtemp, readFile, readdir, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { createInterface } from 'node:readline';
import type { Readable } from 'node:stream';
import { text as textOf } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';

export const repository = fileURLToPath(new URL('../../', import.meta.url));
const ownBin = join(repository, 'packages/millrace/bin/millrace.js');

export interface Running {
  readonly pid: number;
  /** Lines of stdout and of stderr so far. */
  readonly stdout: readonly string[];
  readonly stderr: readonly string[];
  readonly exitCode: Promise<number | null>;
  /** The next line of either stream that matches; also an earlier one, from line `after` on. */
  line(pattern: RegExp, after?: number): Promise<string>;
  /** The number of lines of both streams. */
  seen(): number;
  kill(signal: NodeJS.Signals): void;
}

export interface RunOptions {
  readonly cwd: string;
  readonly env?: Readonly<Record<string, string>>;
  /** An installation of the command other than the repository's. */
  readonly bin?: string;
  /** A Node version other than that of the tests. */
  readonly node?: string;
}

/** Settings of the person who runs the tests must not reach the command. */
export const inherited: Readonly<Record<string, string | undefined>> = Object.fromEntries(
  Object.entries(process.env).filter(
    ([name]) => !/^(MILLRACE_|DATABASE_(?:DIRECT_)?URL$|NODE_OPTIONS$|VITEST|FORCE_COLOR$)/.test(name),
  ),
);

export function millrace(
  args: readonly string[],
  { cwd, env = {}, bin = ownBin, node = process.execPath }: RunOptions,
): Running {
  return watched(
    spawn(node, [bin, ...args], {
      cwd,
      env: { ...inherited, ...env },
      stdio: ['ignore', 'pipe', 'pipe'],
    }),
  );
}

/** A process whose lines are read. */
export function watched(child: ChildProcessByStdio<null, Readable, Readable>): Running {
  const all: string[] = [];
  const stdout: string[] = [];
  const stderr: string[] = [];
  const waiting = new Set<() => void>();
  let over = false;
  const keep = (stream: string[]) => (text: string) => {
    stream.push(text);
    all.push(text);
    for (const check of waiting) check();
  };
  createInterface(child.stdout).on('line', keep(stdout));
  createInterface(child.stderr).on('line', keep(stderr));
  const exitCode = once(child, 'close').then(([code]) => {
    over = true;
    for (const check of waiting) check();
    return code as number | null;
  });
  return {
    pid: child.pid ?? 0,
    stdout,
    stderr,
    exitCode,
    seen: () => all.length,
    kill: (signal) => void child.kill(signal),
    line: (pattern, after = 0) =>
      new Promise((resolve, reject) => {
        const check = (): void => {
          const found = all.slice(after).find((text) => pattern.test(text));
          if (found === undefined && !over) return;
          waiting.delete(check);
          if (found === undefined)
            reject(new Error(`The command ended without ${pattern}:\n${all.join('\n')}`));
          else resolve(found);
        };
        waiting.add(check);
        check();
      }),
  };
}

/** Runs a command to its end. */
export async function finished(args: readonly string[], options: RunOptions) {
  const running = millrace(args, options);
  const exitCode = await running.exitCode;
  return { exitCode, stdout: running.stdout.join('\n'), stderr: running.stderr.join('\n') };
}

/** The output of a documentation page's commands, run in this folder. They find `millrace` as `npx` does. Throws if one of them fails. */
export async function shell(script: string, cwd: string): Promise<string> {
  const PATH = [join(repository, 'node_modules/.bin'), process.env['PATH']].join(delimiter);
  const child = spawn('sh', ['-e', '-c', script], { cwd, env: { ...inherited, PATH } });
  const [out, complained, [code]] = await Promise.all([
    textOf(child.stdout),
    textOf(child.stderr),
    once(child, 'close'),
  ]);
  if (code !== 0) throw new Error(`exit code ${code}: ${complained}`);
  return out;
}

export interface Ready {
  readonly url: string;
  readonly projectRef: string;
  readonly personalAccessToken: string;
  readonly environments: Readonly<Record<'dev' | 'stg' | 'prod' | 'preview', { readonly secretKey: string }>>;
}

/** Starts `millrace dev --json` and waits for its line. A project without data gets a copy from an earlier first start of the same command. */
export async function startDev(
  cwd: string,
  args: readonly string[] = [],
  bin = ownBin,
): Promise<Running & { ready: Ready }> {
  if (bin === ownBin) {
    // Imported here because programs without Vitest also use this file.
    const { giveDevData } = await import('./first-data.ts');
    await giveDevData(cwd);
  }
  const running = millrace(['dev', '--json', '--port', '0', ...args], { cwd, bin });
  const line = await running.line(/^\{"url"/);
  return Object.assign(running, { ready: JSON.parse(line) as Ready });
}

export interface Folder {
  readonly path: string;
  write(file: string, text: string): Promise<void>;
  remove(): Promise<void>;
}

/** A project in a temporary folder outside of the repository; it finds the packages as if they were installed. */
export async function temporaryProject(files: Readonly<Record<string, string>>): Promise<Folder> {
  const path = await mkdtemp(join(tmpdir(), 'millrace-cli-'));
  const write = async (file: string, text: string): Promise<void> => {
    await mkdir(dirname(join(path, file)), { recursive: true });
    await writeFile(join(path, file), text);
  };
  await symlink(join(repository, 'test/modules/node_modules'), join(path, 'node_modules'));
  for (const [file, text] of Object.entries(files)) await write(file, text);
  return { path, write, remove: () => rm(path, { recursive: true, force: true, maxRetries: 5 }) };
}

/** All descendants of a process, from the parents that the kernel reports. */
export async function descendants(pid: number): Promise<number[]> {
  const parents = new Map<number, number>();
  for (const name of await readdir('/proc')) {
    if (!/^\d+$/.test(name)) continue;
    const stat = await readFile(`/proc/${name}/stat`, 'utf8').catch(() => '');
    const parent = Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[1]);
    if (stat !== '') parents.set(Number(name), parent);
  }
  const found: number[] = [];
  const walk = (of: number): void => {
    for (const [child, parent] of parents) {
      if (parent !== of) continue;
      found.push(child);
      walk(child);
    }
  };
  walk(pid);
  return found;
}

/** Whether a process runs; an uncollected zombie does not. */
export async function isAlive(pid: number): Promise<boolean> {
  const stat = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => '');
  return stat !== '' && !/^[ZX]$/.test(stat.slice(stat.lastIndexOf(')') + 2, stat.lastIndexOf(')') + 3));
}
