/**
 * The cost of a batch: `node bench/batches.ts [rounds] [batches]`. Batches of 1,000 items over HTTP
 * (opened, then streamed as NDJSON in one upload) to a server in a separate process, compared with graphile-worker's `addJobs` with 500
 * jobs per call, both on the same embedded PostgreSQL, batch by batch in turn. The measure: the median time of graphile-worker's 1,000 jobs
 * divided by that of ours.
 */
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { Agent, request, type ClientRequest } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Logger, makeWorkerUtils } from 'graphile-worker';
import pg from 'pg';
import { startPostgres } from '../packages/postgres/src/cluster/index.ts';
import { promote } from '../test/support/promote.ts';

const rounds = Number(process.argv[2] ?? 5);
const batches = Number(process.argv[3] ?? 20);
const items = 1_000;
const jobsPerCall = 500;
/** Warm-up batches of each side. */
const warmUps = 25;

const folder = await mkdtemp(join(tmpdir(), 'bench-batches-'));
const postgres = await startPostgres({ dataDir: folder });
const server = fork(new URL('src/server-process.ts', import.meta.url), {
  env: { ...process.env, BENCH_DATABASE: postgres.url },
});
const [{ port, secretKey: key }] = (await once(server, 'message')) as [{ port: number; secretKey: string }];
const agent = new Agent({ keepAlive: true, maxSockets: 1 });

type Write = (outgoing: ClientRequest) => void;

const ask = (path: string, type: string, write: Write): Promise<{ id?: string; sealed?: boolean }> =>
  new Promise((resolve, reject) => {
    const headers = { authorization: `Bearer ${key}`, 'content-type': type };
    const options = { host: '127.0.0.1', port, path, method: 'POST', headers, agent };
    const outgoing = request(options, (incoming) => {
      const pieces: Buffer[] = [];
      incoming.on('data', (piece: Buffer) => pieces.push(piece));
      incoming.on('end', () => {
        const text = Buffer.concat(pieces).toString();
        if ((incoming.statusCode ?? 0) < 300) resolve(JSON.parse(text));
        else reject(new Error(`${incoming.statusCode} ${text}`));
      });
    });
    outgoing.on('error', reject);
    write(outgoing);
    outgoing.end();
  });

const send = (path: string, body: object) =>
  ask(path, 'application/json', (outgoing) => outgoing.write(JSON.stringify(body)));

const payload = (n: number) => ({ user: n, address: `user-${n}@example.com`, pad: 'x'.repeat(100) });

await send('/runner/v1/versions', { contentHash: 'content-1', tasks: [{ id: 'noop', filePath: 't.ts' }] });
await promote(`http://127.0.0.1:${port}`, key);

/** Lines of one piece: a client sends them as it makes them. */
const linesPerPiece = 250;

async function ours(): Promise<void> {
  const { id } = await send('/api/v3/batches', { runCount: items, taskIdentifiers: ['noop'] });
  const filled = await ask(`/api/v3/batches/${id}/items`, 'application/x-ndjson', (outgoing) => {
    for (let from = 0; from < items; from += linesPerPiece) {
      let piece = '';
      for (let index = from; index < from + linesPerPiece; index++) {
        piece += `${JSON.stringify({ index, task: 'noop', payload: payload(index) })}\n`;
      }
      outgoing.write(piece);
    }
  });
  if (!filled.sealed) throw new Error('a batch was not sealed');
}

const admin = new pg.Pool({ connectionString: postgres.url, max: 1 });
await admin.query('create database graphile');
const address = new URL(postgres.url);
address.pathname = '/graphile';
const pool = new pg.Pool({ connectionString: address.href, max: 8 });
// Errors of idle connections during the shutdown of PostgreSQL are ignored.
pool.on('error', () => {});
pool.on('connect', (client) => client.on('error', () => {}));
const logger = new Logger(() => (level, message) => {
  if (level === 'error') console.error('graphile-worker', message);
});
const graphile = await makeWorkerUtils({ pgPool: pool, logger });
await graphile.migrate();

async function theirs(): Promise<void> {
  for (let from = 0; from < items; from += jobsPerCall) {
    await graphile.addJobs(
      Array.from({ length: jobsPerCall }, (_, n) => ({ identifier: 'noop', payload: payload(from + n) })),
    );
  }
}

async function took(act: () => Promise<void>): Promise<number> {
  const started = performance.now();
  await act();
  return performance.now() - started;
}

const median = (values: readonly number[]): number =>
  values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0;

// Warm-up: the code is not yet compiled after the start.
for (const act of [ours, theirs]) for (let n = 0; n < warmUps; n++) await act();
const ratios: number[] = [];
for (let round = 0; round < rounds; round++) {
  // In turn, so that other load on the machine affects both.
  const oursMs: number[] = [];
  const other: number[] = [];
  for (let n = 0; n < batches; n++) {
    oursMs.push(await took(ours));
    other.push(await took(theirs));
  }
  const ratio = median(other) / median(oursMs);
  ratios.push(ratio);
  const figures = [median(oursMs), Math.min(...oursMs), median(other), Math.min(...other)].map((ms) =>
    ms.toFixed(1),
  );
  console.log(
    `round ${round + 1}, ms for ${items} items: ${figures[0]} (least ${figures[1]}), graphile-worker ${figures[2]} (least ${figures[3]}), ratio ${ratio.toFixed(2)}`,
  );
}
console.log(`median ratio ${median(ratios).toFixed(2)} (at least 1 is the goal)`);

agent.destroy();
await graphile.release();
await Promise.all([pool.end(), admin.end()]);
server.kill();
await once(server, 'exit');
await postgres.stop();
await rm(folder, { recursive: true });
