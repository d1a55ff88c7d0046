/**
 * How long the test kit takes: `npx node bench/testing.ts [rounds] [repository …]`, 7 rounds by default, after `npm run build`. With several
 * repositories (this one and an older checkout), each round measures them in turn. Existing builds are used.
 *
 * A round is one process, with no running host and an existing data folder. It has a first test, 15 more, and a test whose run waits for
 * three days. The time of the first test goes from the start of the process to the end of the test. A further test pays for `reset` and `check`.
 */
import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, readdir, realpath, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { median, rounded } from './src/statistics.ts';

const own = fileURLToPath(new URL('..', import.meta.url));
const rounds = Number(process.argv[2] ?? 7);
const repositories = process.argv.length > 3 ? process.argv.slice(3) : [own];

const script = `
import { createTestKit } from '@millrace/testing';
import { task, wait } from '@millrace/sdk';
const add = task({ id: 'add', run: async (n) => n + 1 });
const patient = task({ id: 'patient', run: () => wait.for({ days: 3 }) });
const loaded = performance.now();
const kit = await createTestKit({ tasks: [add, patient] });
const made = performance.now();
const test = async () => {
  await add.trigger(1);
  await kit.drain();
  const [run] = await kit.runsOf(add);
  if (run.output !== 2) throw new Error('It has not completed.');
  await kit.check();
};
await test();
const first = performance.now();
const resets = [];
for (let n = 0; n < 15; n += 1) {
  const from = performance.now();
  await kit.reset();
  const between = performance.now();
  await test();
  const before = performance.now();
  await kit.check();
  resets.push(between - from + performance.now() - before);
}
await patient.trigger();
await kit.drain();
const from = performance.now();
if ((await kit.advance('3 days')).length > 0) throw new Error('It still waits.');
const waited = performance.now() - from;
await kit.close();
console.log(JSON.stringify({ loaded, kit: made - loaded, first, further: resets.sort((a, b) => a - b)[7], slowest: resets[14], waited }));
`;

type Figures = Readonly<Record<'loaded' | 'kit' | 'first' | 'further' | 'slowest' | 'waited', number>>;

const folder = await realpath(await mkdtemp(join(tmpdir(), 'millrace-testing-')));

/** Resolves when no host of this cache is running: neither its address nor its PostgreSQL exists. */
async function hostIsGone(cache: string): Promise<void> {
  const signs = (await readdir(cache)).flatMap((name) =>
    ['host.json', 'data/postgres/postmaster.pid'].map((sign) => join(cache, name, sign)),
  );
  while (signs.some((sign) => existsSync(sign))) await sleep(50);
}

async function measure(repository: string, index: number): Promise<Figures> {
  const dir = join(folder, String(index));
  await mkdir(dir, { recursive: true });
  await symlink(join(repository, 'node_modules'), join(dir, 'node_modules')).catch(() => undefined);
  await writeFile(join(dir, 'first.mjs'), script);
  const cache = join(dir, 'cache');
  const child = spawn(process.execPath, ['first.mjs'], {
    cwd: dir,
    env: { ...process.env, MILLRACE_TEST_CACHE: cache, MILLRACE_TEST_IDLE_MS: '300' },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const output = await text(child.stdout);
  await hostIsGone(cache);
  // The last of its processes end.
  await sleep(500);
  return JSON.parse(output) as Figures;
}

const range = (values: readonly number[]): string =>
  `${rounded(median(values))} (${rounded(Math.min(...values))}–${rounded(Math.max(...values))})`;

try {
  // Makes the database and the cache of compiled code: the first start of an installation.
  const installed = [];
  for (const [index, repository] of repositories.entries())
    installed.push((await measure(repository, index)).first);
  const measured: Figures[][] = repositories.map(() => []);
  for (let round = 0; round < rounds; round += 1)
    for (const [index, repository] of repositories.entries())
      measured[index]?.push(await measure(repository, index));
  for (const [index, repository] of repositories.entries()) {
    const all = measured[index] ?? [];
    const of = (name: keyof Figures): string => range(all.map((figures) => figures[name]));
    console.log(`\n${repository}, ${all.length} rounds: median (least–most) in ms`);
    console.log(`| the first start of an installation | ${rounded(installed[index])} |`);
    console.log(`| start of the process to the end of the first test | ${of('first')} |`);
    console.log(`|   of it loading the packages | ${of('loaded')} |`);
    console.log(`|   of it createTestKit | ${of('kit')} |`);
    console.log(`| reset and check of a further test, median of 15 | ${of('further')} |`);
    console.log(`| the slowest of the 15 | ${of('slowest')} |`);
    console.log(`| advance('3 days') over a wait of three days | ${of('waited')} |`);
  }
  if (repositories.length === 2) {
    const ratios = (measured[0] ?? []).map(
      (figures, round) => figures.first / (measured[1]?.[round]?.first ?? NaN),
    );
    console.log(
      `\nThe first test, the first repository divided by the second in each round: ${range(ratios)}`,
    );
  }
} finally {
  await rm(folder, { recursive: true, force: true, maxRetries: 20, retryDelay: 250 });
}
