/**
 * The cost of a task of the published SDK compared with ours: `npx node bench/published.ts [rounds] [runs]`. Each round measures both, in
 * turns: a drain as W2, single starts of an idle runner, and the memory of the executor. Linux only, as it reads /proc. The measures:
 * at most 1.15 times the time and processor time a run, 1.2 times the time to start, and 1.5 times the memory.
 */
import { mkdir, symlink, writeFile } from 'node:fs/promises';
import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { startRunner } from '../packages/millrace/src/serve-folder/start.ts';
import type { Runner } from '../packages/runner/src/runner/options.ts';
import { promote } from '../test/support/promote.ts';
import { startLocalServer } from './src/local-server.ts';
import { ownCpuOf, residentOf, tree } from './src/processes.ts';

const rounds = Number(process.argv[2] ?? 5);
const runs = Number(process.argv[3] ?? 20_000);
const singles = 100;
const kinds = ['ours', 'theirs'] as const;
type Kind = (typeof kinds)[number];

const modules = fileURLToPath(new URL('../test/modules/node_modules', import.meta.url));
const names = { ours: '@millrace/sdk', theirs: '@trigger.dev/sdk' } as const;
const tasks = (kind: Kind): string => `
import { task } from '${names[kind]}';
export const noop = task({ id: 'noop', run: async () => {} });
export const clock = task({ id: 'clock', run: async () => performance.timeOrigin + performance.now() });
`;

const { server, key, folder, stop } = await startLocalServer();
const keys = {
  ours: server.credentials?.environments.stg.secretKey ?? '',
  theirs: key,
};

async function ask<T>(kind: Kind, method: string, path: string, body?: string): Promise<T> {
  const type = path.endsWith('/items') ? 'application/x-ndjson' : 'application/json';
  const headers = { authorization: `Bearer ${keys[kind]}`, 'content-type': type };
  const response = await fetch(server.url + path, { method, headers, ...(body !== undefined && { body }) });
  if (!response.ok) throw new Error(`${path}: ${response.status} ${await response.text()}`);
  return (await response.json()) as T;
}

async function project(kind: Kind): Promise<string> {
  const dir = join(folder, kind);
  const link = join(dir, 'node_modules', names[kind]);
  await mkdir(dirname(link), { recursive: true });
  await symlink(join(modules, names[kind]), link);
  const source = kind === 'ours' ? 'tasks/bench.ts' : 'trigger/bench.ts';
  await mkdir(join(dir, dirname(source)));
  await writeFile(join(dir, source), tasks(kind));
  await writeFile(
    join(dir, 'package.json'),
    JSON.stringify({ name: kind, type: 'module', dependencies: { [names[kind]]: '*' } }),
  );
  return dir;
}

const dirs = { ours: await project('ours'), theirs: await project('theirs') };

interface Started {
  readonly runner: Runner;
  /** Resolves when the given number of attempts has ended since then. */
  readonly ended: (count: number) => Promise<void>;
  /** Processor time of its executors in milliseconds, when the first attempt ended. */
  readonly cpuAtFirst: () => number;
  readonly firstAt: () => number;
}

const executors = (): number[] =>
  tree(process.pid).filter((pid) => {
    try {
      return readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes('executor/main');
    } catch {
      return false;
    }
  });
const cpu = (): number => executors().reduce((total, pid) => total + ownCpuOf(pid), 0);

async function start(kind: Kind): Promise<Started> {
  let count = 0;
  let [firstAt, cpuAtFirst] = [0, 0];
  let waiting: { readonly count: number; readonly done: () => void } | undefined;
  const runner = await startRunner({
    url: server.url,
    secretKey: keys[kind],
    projectDir: dirs[kind],
    watch: false,
    events: {
      onProblem: ({ message }) => console.error(message),
      onAttemptEnd() {
        count++;
        if (count === 1) [firstAt, cpuAtFirst] = [performance.now(), cpu()];
        if (waiting && count >= waiting.count) waiting.done();
      },
    },
  });
  return {
    runner,
    cpuAtFirst: () => cpuAtFirst,
    firstAt: () => firstAt,
    async ended(expected) {
      if (count < expected) await new Promise<void>((done) => (waiting = { count: expected, done }));
    },
  };
}

async function fill(kind: Kind): Promise<void> {
  for (let left = runs; left > 0; left -= 1_000) {
    const runCount = Math.min(left, 1_000);
    const { id } = await ask<{ id: string }>(kind, 'POST', '/api/v3/batches', JSON.stringify({ runCount }));
    const items = Array.from({ length: runCount }, (_, index) => JSON.stringify({ index, task: 'noop' }));
    await ask(kind, 'POST', `/api/v3/batches/${id}/items`, `${items.join('\n')}\n`);
  }
}

/** Milliseconds from the call to the first line of the run's code. */
async function startOne(kind: Kind, { ended }: Started, before: number): Promise<number> {
  const at = performance.timeOrigin + performance.now();
  const { id } = await ask<{ id: string }>(kind, 'POST', '/api/v1/tasks/clock/trigger', '{}');
  await ended(before + 1);
  for (;;) {
    const { output } = await ask<{ output?: number }>(kind, 'GET', `/api/v3/runs/${id}`);
    if (output !== undefined) return output - at;
  }
}

const median = (values: readonly number[]): number =>
  values.toSorted((a, other) => a - other)[Math.floor(values.length / 2)] ?? NaN;

type Figures = Readonly<Record<'wallUs' | 'executorUs' | 'startMs' | 'idleMiB' | 'usedMiB', number>>;

async function measure(kind: Kind): Promise<Figures> {
  const memory = (): number => executors().reduce((total, pid) => total + residentOf(pid), 0);
  const idle = await start(kind);
  const latencies: number[] = [];
  for (let n = 0; n < singles; n++) latencies.push(await startOne(kind, idle, n));
  const idleMiB = memory();
  await idle.runner.stop({ waitMs: 0 });

  await fill(kind);
  const drain = await start(kind);
  await drain.ended(runs);
  const took = performance.now() - drain.firstAt();
  const figures = {
    wallUs: (took * 1_000) / runs,
    executorUs: ((cpu() - drain.cpuAtFirst()) * 1_000) / runs,
    startMs: median(latencies),
    idleMiB,
    usedMiB: memory(),
  };
  await drain.runner.stop({ waitMs: 5_000 });
  return figures;
}

const measured: Record<Kind, Figures[]> = { ours: [], theirs: [] };
try {
  for (const kind of kinds) {
    const { runner } = await start(kind);
    await promote(server.url, keys[kind]);
    await runner.stop({ waitMs: 0 });
  }
  for (let round = 1; round <= rounds; round++) {
    for (const kind of round % 2 === 1 ? kinds : kinds.toReversed()) {
      const figures = await measure(kind);
      measured[kind].push(figures);
      console.log(
        `${round} ${kind.padEnd(6)} ${JSON.stringify(figures, (_, value: unknown) => (typeof value === 'number' ? Math.round(value * 10) / 10 : value))}`,
      );
    }
  }
  for (const name of Object.keys(measured.ours[0] ?? {}) as (keyof Figures)[]) {
    const ratios = measured.theirs.map(
      (theirs, round) => theirs[name] / (measured.ours[round]?.[name] ?? NaN),
    );
    const [least, max] = [Math.min(...ratios), Math.max(...ratios)];
    console.log(
      `${name.padEnd(10)} ours ${median(measured.ours.map((round) => round[name])).toFixed(1)}, theirs ${median(measured.theirs.map((round) => round[name])).toFixed(1)}, theirs / ours ${median(ratios).toFixed(2)} (${least.toFixed(2)} to ${max.toFixed(2)})`,
    );
  }
} finally {
  await stop();
}
process.exit(0);
