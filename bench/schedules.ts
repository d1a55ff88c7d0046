/*
 * How late schedules start, with 100,000 of them on one server process:
 *   - 10,000 that are due in the same minute: until all of them have started;
 *   - 200 that run every minute: the lag of each start, over three minutes;
 *   - what looking costs while nothing is due, by how many schedules there are.
 * A start is the moment at which a runner, connected over its WebSocket, is handed the run.
 *
 *   node bench/schedules.ts [minutes]
 *
 * Uses the PostgreSQL of DATABASE_URL (a fresh, empty database), else an embedded one with its ordinary, durable settings.
 */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { WebSocket } from 'ws';
import type { CompactAssignment, ServerMessage } from '../packages/contract/src/runner/index.ts';
import { startPostgres } from '../packages/postgres/src/cluster/index.ts';
import { masterKeyOf } from '../packages/server/src/auth/seal.ts';
import { connect, type Database } from '../packages/server/src/db/connect.ts';
import { createLog } from '../packages/server/src/logger.ts';
import { startServer } from '../packages/server/src/server.ts';
import { promote } from '../test/support/promote.ts';

const minute = 60_000;
const minutes = Number(process.argv[2] ?? 3);
const inTotal = 100_000;
const atOnce = 10_000;
const minutely = 200;

const folder = await mkdtemp(join(tmpdir(), 'millrace-bench-'));
const postgres = process.env['DATABASE_URL'] ? undefined : await startPostgres({ dataDir: folder });
const database: Database = process.env['DATABASE_URL'] ?? (postgres?.connection as Database);
const server = await startServer({
  database,
  port: 0,
  masterKey: masterKeyOf(Buffer.alloc(32, 7)),
  log: createLog(process.stderr, 'warn'),
});
const sql = connect(database, { name: 'bench', max: 2 });
const key = server.credentials?.environments.prod.secretKey ?? '';
const registered = await fetch(`${server.url}/runner/v1/versions`, {
  method: 'POST',
  headers: { authorization: `Bearer ${key}` },
  body: JSON.stringify({
    contentHash: 'content-1',
    tasks: [{ id: 'tick', filePath: 'tick.ts', scheduled: true }],
  }),
});
const { version } = (await registered.json()) as { version: string };
await promote(server.url, key, version);

/** A runner that completes every run immediately. */
const started: { schedule: string; at: number }[] = [];
const socket = new WebSocket(`${server.url.replace('http', 'ws')}/runner/v1/connect`, {
  headers: { authorization: `Bearer ${key}` },
});
socket.on('open', () => {
  const hello = { type: 'hello', runner: 'bench', host: 'bench', pid: process.pid, capacity: 2_000 };
  socket.send(JSON.stringify({ ...hello, versions: [version], leased: [] }));
  setInterval(() => socket.send('{"type":"heartbeat"}'), 5_000).unref();
});
socket.on('message', (text) => {
  const message = JSON.parse(String(text)) as ServerMessage;
  if (message.type !== 'run') return;
  const at = Date.now();
  for (const run of message.assignments) started.push({ schedule: run.schedule ?? '', at });
  const outcome = { kind: 'completed', output: null, outputType: 'application/json' };
  const completionOf = ({ run, fence }: CompactAssignment) => ({ run, fence, outcome });
  socket.send(JSON.stringify({ type: 'settle', settlements: message.assignments.map(completionOf) }));
});

/** Microseconds of the query for the next due schedules, the only work of an idle server, once per second. */
async function pollUs(): Promise<number> {
  const begin = performance.now();
  for (let n = 0; n < 2_000; n++) {
    await sql`select next_at from schedules where next_at is not null order by next_at limit 1`;
  }
  return Math.round(((performance.now() - begin) * 1_000) / 2_000);
}

const add = (count: number, prefix: string, cron: string, first: Date, spreadDays = 0) => sql`
  insert into schedules (env, id, type, task, cron, description, timezone, since, next_nominal, next_at, created_at)
  select e.id, ${`sched_${prefix}`} || n, 'IMPERATIVE', 'tick', ${cron}, '', 'UTC', now(), at, at, now()
    from environments e
    cross join (select n, ${first}::timestamptz + random() * ${spreadDays}::float8 * interval '1 day' as at
                  from generate_series(1, ${count}::int) n) s
   where e.kind = 'prod'`;

console.log(`a look with no schedule: ${await pollUs()} µs`);
const later = new Date(Date.now() + 2 * 86_400_000);
await add(1_000, 'few', '0 0 1 1 *', later, 300);
await sql`analyze schedules`;
console.log(`a look with 1,000 that are not due: ${await pollUs()} µs`);
await add(inTotal - atOnce - minutely - 1_000, 'idle', '0 0 1 1 *', later, 300);
await sql`analyze schedules`;
console.log(`a look with ${inTotal - atOnce - minutely} that are not due: ${await pollUs()} µs`);
const cpu = process.cpuUsage();
await new Promise((resolve) => setTimeout(resolve, 10_000));
const { user, system } = process.cpuUsage(cpu);
console.log(`idle: ${((user + system) / 10_000 / 10).toFixed(2)} % of a core in the server and its runner`);

const first = new Date(Math.ceil((Date.now() + 8_000) / minute) * minute);
await add(minutely, 'minutely', '* * * * *', first);
const burst = new Date(first.getTime() + minutes * minute);
const at = `${burst.getUTCMinutes()} ${burst.getUTCHours()} * * *`;
await add(atOnce, 'burst', at, burst);
await sql`analyze schedules`;
console.log(`${minutely} every minute from ${first.toISOString()}, ${atOnce} more at ${burst.toISOString()}`);

const isBurst = ({ schedule }: { schedule: string }) => schedule.startsWith('sched_burst');
const isOver = () => started.filter(isBurst).length >= atOnce || Date.now() > burst.getTime() + minute;
while (!isOver()) await new Promise((resolve) => setTimeout(resolve, 200));
await new Promise((resolve) => setTimeout(resolve, 1_000));

function summary(name: string, lags: number[]): void {
  const sorted = lags.toSorted((a, b) => a - b);
  const of = (share: number) => sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))];
  console.log(
    `${name}: ${sorted.length} started; lag p50 ${of(0.5)} ms, p99 ${of(0.99)} ms, most ${sorted.at(-1)} ms`,
  );
}
const lagOf = (base: number) => (start: { at: number }) => start.at - base;
const everyMinute = started.filter(({ schedule }) => schedule.startsWith('sched_minutely'));
const quiet = everyMinute.filter((start) => start.at < burst.getTime());
summary(
  'every minute',
  quiet.map((start) => start.at % minute),
);
summary(
  'every minute, in the minute of the burst',
  everyMinute.filter((start) => start.at >= burst.getTime()).map(lagOf(burst.getTime())),
);
summary('at once', started.filter(isBurst).map(lagOf(burst.getTime())));
const [ticks] = await sql<{ count: number; runs: number }[]>`
  select count(*)::int as count, (select count(*)::int from runs) as runs from schedule_ticks`;
console.log(`${ticks?.count} ticks recorded, ${ticks?.runs} runs`);

socket.close();
await sql.end();
await server.close();
await postgres?.stop();
await rm(folder, { recursive: true, force: true });
process.exit(0);
