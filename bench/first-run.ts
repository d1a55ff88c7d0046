/**
 * How long it takes from nothing to the first run: `npx node bench/first-run.ts [cold rounds] [warm rounds]`, 3 and 7 by default, after
 * `npm run build`. It follows the README in an empty folder: `npx millrace init hello --dev`, until the run of the first task has
 * been printed. In that time npx downloads or finds the command, the project is written, the database is created, and the task is bundled,
 * loaded and run. `npm install` in the new project, which gives an editor the types, is measured afterwards.
 *
 * Cold: the cache of npm is empty. Warm: it is that of a round before, in another folder. The data folder is new in both. The packages of this
 * repository are those of `npm pack`, from a small registry in this process; the others come from the registry that npm is configured with, so
 * a cold round has its network in it.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createHash } from 'node:crypto';
import { chmod, mkdir, mkdtemp, readFile, realpath, rm } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { createInterface } from 'node:readline';
import { packAll, published, run } from '../test/packages/packed.ts';
import { median } from './src/statistics.ts';

const coldRounds = Number(process.argv[2] ?? 3);
const warmRounds = Number(process.argv[3] ?? 7);
/** Milliseconds. */
interface Times {
  readonly firstRun: number;
  readonly install: number;
}

const packed = await packAll();
const folder = await realpath(await mkdtemp(join(tmpdir(), 'millrace-first-run-')));
// PostgreSQL of root runs as another user, who must get through, as through the folder of a project.
await chmod(folder, 0o711);

/** A registry with the packages of this repository, which forwards to npm's configured registry for all others. */
async function serveRegistry(): Promise<string> {
  let url = '';
  const { stdout: configured } = await run('npm', ['config', 'get', 'registry']);
  const others = configured.trim().replace(/\/$/, '');
  const packages = new Map<string, (base: string) => object>();
  for (const name of published) {
    const tarball = packed.tarballs[name];
    const bytes = await readFile(tarball);
    const { stdout } = await run('tar', ['-xzOf', tarball, 'package/package.json']);
    const manifest = JSON.parse(stdout) as { name: string; version: string };
    const integrity = `sha512-${createHash('sha512').update(bytes).digest('base64')}`;
    packages.set(manifest.name, (base) => ({
      name: manifest.name,
      'dist-tags': { latest: manifest.version },
      versions: {
        [manifest.version]: {
          ...manifest,
          dist: { tarball: `${base}/files/${basename(tarball)}`, integrity },
        },
      },
    }));
  }
  const server = createServer((request, response) => {
    const path = decodeURIComponent(request.url ?? '/').slice(1);
    const known = packages.get(path);
    if (known) return void response.end(JSON.stringify(known(url)));
    const file = published.find((name) => path === `files/${basename(packed.tarballs[name])}`);
    if (!file) return void response.writeHead(302, { location: `${others}${request.url ?? '/'}` }).end();
    void readFile(packed.tarballs[file]).then((bytes) => response.end(bytes));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  server.unref();
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return url;
}

const registry = await serveRegistry();

const inherited = Object.fromEntries(
  Object.entries(process.env).filter(([name]) => !/^(?:MILLRACE_|DATABASE_|NODE_|npm_)/.test(name)),
);
const environment = (cache: string): NodeJS.ProcessEnv => ({
  ...inherited,
  npm_config_cache: cache,
  npm_config_registry: registry,
  npm_config_yes: 'true',
  npm_config_update_notifier: 'false',
  NO_COLOR: '1',
});

/** Starts a command in a folder. `line` resolves when it prints a line that matches. */
function start(command: string, args: readonly string[], cwd: string, cache: string) {
  // A separate process group, because npx ends at a signal without ending the command that it runs.
  const child = spawn(command, args, {
    cwd,
    env: environment(cache),
    stdio: ['ignore', 'pipe', 'pipe'],
    detached: true,
  });
  const printed: string[] = [];
  const waiting = new Map<RegExp, () => void>();
  for (const stream of [child.stdout, child.stderr]) {
    createInterface(stream).on('line', (text) => {
      printed.push(text);
      for (const [pattern, done] of waiting) if (pattern.test(text)) done();
    });
  }
  const ended = once(child, 'close').then(([code]) => {
    if (code !== 0) throw new Error(`${command} ${args.join(' ')}: exit code ${code}\n${printed.join('\n')}`);
    return printed.join('\n');
  });
  ended.catch(() => undefined);
  const line = (pattern: RegExp): Promise<unknown> =>
    Promise.race([new Promise<void>((done) => waiting.set(pattern, done)), ended]);
  return { child, ended, line };
}

async function timed(act: () => Promise<unknown>): Promise<number> {
  const from = performance.now();
  await act();
  return performance.now() - from;
}

/** Does it all once, in an empty folder. */
async function firstRun(cache: string): Promise<Times> {
  const dir = await mkdtemp(join(folder, 'round-'));
  await chmod(dir, 0o711);
  const project = join(dir, 'hello');
  let dev: ReturnType<typeof start> | undefined;
  try {
    const executed = await timed(async () => {
      dev = start('npx', ['millrace', 'init', 'hello', '--dev', '--port', '0', '--json'], dir, cache);
      await dev.line(/"greeting":"Hello, Ada!"/);
    });
    const install = await timed(() => start('npm', ['install'], project, cache).ended);
    return { firstRun: executed, install };
  } finally {
    if (dev?.child.pid !== undefined) process.kill(-dev.child.pid, 'SIGTERM');
    await dev?.ended.catch(() => undefined);
    await rm(dir, { recursive: true, force: true, maxRetries: 20, retryDelay: 250 });
  }
}

const seconds = (values: readonly number[]): string =>
  `${((median(values) ?? NaN) / 1_000).toFixed(2)} (${(Math.min(...values) / 1_000).toFixed(2)}–${(Math.max(...values) / 1_000).toFixed(2)})`;

function print(title: string, rounds: readonly Times[]): void {
  console.log(`\n${title}, ${rounds.length} rounds: median (least–most) in s`);
  console.log(`| to the first run | ${seconds(rounds.map((times) => times.firstRun))} |`);
  console.log(`| npm install, afterwards | ${seconds(rounds.map((times) => times.install))} |`);
}

try {
  const cold: Times[] = [];
  let cache = '';
  for (let round = 0; round < coldRounds; round += 1) {
    if (cache !== '') await rm(cache, { recursive: true, force: true });
    cache = join(folder, `cache-${round}`);
    await mkdir(cache);
    cold.push(await firstRun(cache));
  }
  print('Cold', cold);
  const warm: Times[] = [];
  for (let round = 0; round < warmRounds; round += 1) warm.push(await firstRun(cache));
  print('Warm', warm);
} finally {
  await packed.remove();
  await rm(folder, { recursive: true, force: true, maxRetries: 5 });
}
