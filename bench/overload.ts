/**
 * The cost of a flood from one environment for others: `node bench/overload.ts [rounds] [seconds] [connections] [kind]`, where
 * the kind of the flood is trigger, many, list, append, lines or claims.
 *
 * Twenty quiet environments send five triggers a second each, alone and then next to a noisy one, which sends over its connections as fast as
 * it is answered. The figures are latencies in milliseconds: of the quiet environments, of health checks, and of the noisy one, with the
 * statuses that it received.
 */
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { setPriority, tmpdir } from 'node:os';
import { join } from 'node:path';
import { startPostgres } from '../packages/postgres/src/cluster/index.ts';
import { masterKeyOf } from '../packages/server/src/auth/seal.ts';
import { connect } from '../packages/server/src/db/connect.ts';
import { createTenancy } from '../packages/server/src/tenancy/bootstrap.ts';
import { end, Script } from './src/child.ts';
import { sleep } from './src/clock.ts';
import { source } from './src/folders.ts';
import type { Ask, Latency, Sent } from './src/overload-caller.ts';
import { cpuOf } from './src/processes.ts';
import { recycledWal, recycleWal } from './src/recycle-wal.ts';
import { median, rounded } from './src/statistics.ts';

const rounds = Number(process.argv[2] ?? 3);
const ms = Number(process.argv[3] ?? 5) * 1_000;
const connections = Number(process.argv[4] ?? 500);
const kind = (process.argv[5] ?? 'trigger') as NonNullable<Ask['kind']>;
const quietEnvironments = 20;
const warmUpMs = 3_000;

const folder = await mkdtemp(join(tmpdir(), 'millrace-overload-'));
const postgres = await startPostgres({ dataDir: folder, settings: recycledWal });
const server = fork(source('server-process.ts'), { env: { ...process.env, BENCH_DATABASE: postgres.url } });
const [{ port }] = (await once(server, 'message')) as [{ port: number }];

const sql = connect(postgres.url, { name: 'bench', max: 1 });
const keys: string[] = [];
for (let n = 0; n <= quietEnvironments; n++) {
  const tenancy = { masterKey: masterKeyOf(Buffer.alloc(32, 1)), reveal: false };
  const { environments } = await sql.begin((tx) => createTenancy(tx, tenancy));
  keys.push(environments.prod.secretKey ?? '');
}
await recycleWal(sql);
await sql.end();
const [noisyKey = '', ...quietKeys] = keys;

const quiet = new Script(source('overload-caller.ts'));
const noisy = new Script(source('overload-caller.ts'));
// Its clients would be on other machines, so here they only get the processor time that the others leave.
setPriority(noisy.pid, 19);
const alone = (time: number) => quiet.ask<Sent>({ port, keys: quietKeys, ms: time } satisfies Ask);
const flood = (time: number) =>
  noisy.ask<Sent>({ port, keys: [noisyKey], ms: time, connections, kind } satisfies Ask);

const rows: Record<string, unknown>[] = [];
const ratios: number[] = [];
const texts = ({ p50, p99, max }: Latency): string =>
  [p50, p99, max].map((each) => rounded(each)).join(' / ');

await Promise.all([alone(2_000), flood(2_000)]);
for (let round = 0; round < rounds; round++) {
  const before = await alone(ms);
  const spent = cpuOf(server.pid!);
  // Measured once all connections are open.
  const flooding = flood(ms + warmUpMs);
  await sleep(warmUpMs);
  const during = await alone(ms);
  const flooded = await flooding;
  const requests = during.calls.count + flooded.calls.count;
  ratios.push((during.calls.p99 ?? 0) / (before.calls.p99 ?? 1));
  rows.push({
    'quiet alone': texts(before.calls),
    'quiet next to noisy': texts(during.calls),
    'quiet statuses': JSON.stringify(during.statuses),
    healthz: texts(during.healthz!),
    readyz: texts(during.readyz!),
    noisy: texts(flooded.calls),
    'noisy statuses': JSON.stringify(flooded.statuses),
    'requests/s': Math.round(requests / ((ms + warmUpMs) / 1_000)),
    'server us/request': Math.round(((cpuOf(server.pid!) - spent) * 1_000) / requests),
  });
}
for (const row of rows) console.table(row);
console.log(
  `quiet p99 next to noisy / alone: ${ratios.map(rounded).join(', ')}; median ${rounded(median(ratios))}`,
);

await Promise.all([end(quiet.child), end(noisy.child)]);
server.disconnect();
await once(server, 'exit');
await postgres.stop();
await rm(folder, { recursive: true, force: true });
