/*
 * Environment variables: list and import of 1,000, the reads at the start of a runner and of an executor, and redaction.
 *
 *   node bench/envvars.ts
 *
 * On the PostgreSQL of DATABASE_URL, in a database made for it, or on an embedded one in a temporary folder.
 */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createLog, loadMasterKey, startServer } from '../packages/server/src/index.ts';
import { createRedactor } from '../packages/server/src/envvars/redact/redactor.ts';
import { startPostgres } from '../packages/postgres/src/cluster/index.ts';

const count = 1_000;
const rounds = 30;

const folder = await mkdtemp(join(tmpdir(), 'millrace-bench-'));
const postgres = await startPostgres({ dataDir: join(folder, 'data') });
const server = await startServer({
  database: postgres.connection,
  port: 0,
  masterKey: await loadMasterKey({ file: join(folder, 'master.key') }),
  log: createLog(process.stderr, 'warn'),
});
const { projectRef = '', environments } = server.credentials ?? {};
const key = environments?.prod.secretKey ?? '';

async function call(method: string, path: string, body?: unknown): Promise<unknown> {
  const response = await fetch(`${server.url}/api/v1/projects/${projectRef}/${path}`, {
    method,
    headers: { authorization: `Bearer ${key}` },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
  if (!response.ok) throw new Error(await response.text());
  return response.json();
}

async function measure(name: string, act: (round: number) => Promise<unknown>): Promise<void> {
  const times: number[] = [];
  for (let round = 0; round < rounds; round++) {
    const start = performance.now();
    await act(round);
    times.push(performance.now() - start);
  }
  const [first = 0] = times;
  times.sort((a, other) => a - other);
  const at = (share: number) => (times[Math.floor(share * (rounds - 1))] ?? 0).toFixed(1);
  console.log(`${name}: median ${at(0.5)} ms, p90 ${at(0.9)} ms, the first ${first.toFixed(1)} ms`);
}

/** A tenth of them secret; values as long as tokens are. */
const variables = (round: number, from: number, to: number) =>
  Object.fromEntries(
    Array.from({ length: to - from }, (_, at) => [
      `VARIABLE_${from + at}`,
      `${round} `.concat('value '.repeat(8)),
    ]),
  );

await call('POST', 'envvars/prod/import', { variables: variables(0, 0, 100), isSecret: true });
await measure(`import of ${count}, each changed`, (round) =>
  call('POST', 'envvars/prod/import', { variables: variables(round + 1, 0, count), override: true }),
);
await measure(`list of ${count}`, () => call('GET', 'envvars/prod'));
await measure(`all ${count} with their values, as a runner reads them when it connects`, () =>
  call('GET', 'envvars'),
);
await measure(`one set among ${count}`, (round) =>
  call('POST', 'envvars/prod', { name: 'ONE', value: String(round) }),
);
console.log('the start of an executor process reads nothing: its runner has the variables');

for (const secrets of [1, 100, 1_000]) {
  const start = performance.now();
  const redactor = createRedactor(
    Array.from({ length: secrets }, (_, at) => `sk_live_${String(at).padStart(6, '0')}_4f9aQz71xN`),
  );
  const built = performance.now() - start;
  const line = 'GET /api/v1/orders/1234567 answered 200 in 34 ms for customer 9912; '.repeat(16);
  const calls = 20_000;
  const from = performance.now();
  for (let at = 0; at < calls; at++) redactor.text(line);
  const took = performance.now() - from;
  console.log(
    `${secrets} secrets: made in ${built.toFixed(1)} ms; ${((took * 1e6) / calls / line.length).toFixed(1)} ns a character of a log line`,
  );
}

await server.close();
await postgres.stop();
await rm(folder, { recursive: true, force: true });
