import { once } from 'node:events';
import type { CompactAssignment, RunnerMessage, ServerMessage } from '@millrace/contract/runner';
import { expect, onTestFinished, test } from 'vitest';
import { WebSocket } from 'ws';
import { installation, type Installation } from '../../../../../test/access/installation.ts';
import type { Transaction } from '../../db/connect.ts';
import { promote } from '../../../../../test/support/promote.ts';

type Hello = Extract<RunnerMessage, { type: 'hello' }>;
type Message<T extends ServerMessage['type']> = Extract<ServerMessage, { type: T }>;

/** A passive runner that reports holding these fences. */
async function connected(
  installed: Installation,
  key: string,
  leased: readonly number[] = [],
  more: Partial<Hello> = {},
) {
  const runner = await connectWithHello(installed, key, leased, more);
  return { ...runner, welcome: await runner.hears('welcome') };
}

/** The same, before the welcome message. */
async function connectWithHello(
  { ask, server }: Installation,
  key: string,
  leased: readonly number[],
  more: Partial<Hello> = {},
) {
  const { body } = await ask('POST /runner/v1/versions', {
    key,
    body: { contentHash: 'the content', tasks: [{ id: 'send', filePath: 'tasks.ts' }] },
  });
  // Not repeated by a reconnecting runner, because tables may be locked then.
  if (leased.length === 0) await promote(server.url, key);
  const socket = new WebSocket(`${server.url.replace('http', 'ws')}/runner/v1/connect`, {
    headers: { authorization: `Bearer ${key}` },
  });
  onTestFinished(() => socket.terminate());
  const received: ServerMessage[] = [];
  socket.on('message', (data) => received.push(JSON.parse((data as Buffer).toString()) as ServerMessage));
  await once(socket, 'open');
  const say = (message: RunnerMessage): void => socket.send(JSON.stringify(message));
  const hears = async <T extends ServerMessage['type']>(type: T): Promise<Message<T>> => {
    await expect
      .poll(() => received.some((message) => message.type === type), { timeout: 20_000 })
      .toBe(true);
    return received.find((message) => message.type === type) as Message<T>;
  };
  say({
    type: 'hello',
    runner: `runner of ${key.slice(0, 12)}`,
    host: 'test',
    pid: 1,
    capacity: 5,
    versions: [body.version],
    leased,
    ...more,
  });
  return { say, hears, received, socket };
}

/**
 * A runner that holds an attempt reconnects before its old connection is known to have ended. Its attempts have been read, and the rest of its
 * hello waits until `meanwhile` has ended.
 */
async function comingBack(
  installed: Installation,
  meanwhile: (
    tx: Transaction,
    leased: LeasedAttempt,
    runner: Awaited<ReturnType<typeof connectWithHello>>,
  ) => Promise<void>,
) {
  const { sql, keys } = installed;
  const { assignment } = await holding(installed, keys.prod);
  const { run, fence } = assignment;
  const [before] = await sql<{ env: number }[]>`select env from runners`;
  return sql.begin(async (tx) => {
    // Leases can be read but not reclaimed. A transaction reads pg_stat_activity only once, so a separate connection reads it.
    await tx`lock table leases in exclusive mode`;
    const back = await connectWithHello(installed, keys.prod, [fence]);
    const waiting = () => sql`
      select from pg_locks l join pg_stat_activity a using (pid)
       where not l.granted and l.relation = 'leases'::regclass and a.query like '%reclaim_leases%false%'`;
    await expect.poll(waiting, { timeout: 20_000 }).toHaveLength(1);
    await meanwhile(tx, { env: before!.env, run, fence }, back);
    return { ...back, fence };
  });
}

interface LeasedAttempt {
  readonly env: number;
  readonly run: string;
  readonly fence: number;
}

async function holding(installed: Installation, key: string) {
  const runner = await connected(installed, key);
  await installed.ask('POST /api/v1/tasks/send/trigger', { key, body: {} });
  const [assignment] = (await runner.hears('run')).assignments;
  return { ...runner, assignment: assignment as CompactAssignment };
}

test('a runner cannot change attempts of another environment with any message', async () => {
  const installed = await installation();
  const { keys, sql } = installed;
  const { assignment } = await holding(installed, keys.prod);
  const stranger = await connected(installed, keys.stg);
  const [row] = await sql<{ env: number }[]>`select env from leases`;
  const { run, fence } = assignment;
  const wait = { key: 'time/1', kind: 'TIME', until: Date.now() + 3_600_000 } as const;
  const inAttempt = Object.assign({ run, fence, waits: [wait] }, row);
  const inWait = { run, fence, waits: [Object.assign({}, wait, row)] };
  stranger.say({ type: 'wait', attempts: [inAttempt, inWait] });
  const refused = { fence, state: 'stale', suspension: null, keys: [] };
  expect((await stranger.hears('waited')).attempts).toEqual([refused, refused]);
  expect(await sql`select run_id from leases`).toEqual([{ run_id: run }]);
  expect(await sql`select from suspended`).toHaveLength(0);
});

test('a runner that missed a cancellation receives it with its next heartbeat', async () => {
  const installed = await installation();
  const { say, hears, assignment } = await holding(installed, installed.keys.prod);
  // Acts like a process that died before it notified the runner.
  await installed.sql`update leases set cancel_requested = true`;
  say({ type: 'heartbeat' });
  expect((await hears('cancel')).fences).toEqual([assignment.fence]);
});

test('a run that is resumed while its runner reconnects stays with the runner', async () => {
  const installed = await installation();
  const { sql } = installed;
  const key = installed.keys.prod;
  const { say, hears, assignment } = await holding(installed, key);
  const { run, fence } = assignment;
  const wait = { key: 'time/1', kind: 'TIME', until: Date.now() + 3_600_000 } as const;
  say({ type: 'wait', attempts: [{ run, fence, waits: [wait] }] });
  expect((await hears('waited')).attempts).toMatchObject([{ fence, state: 'suspended' }]);

  const [before] = await sql<{ env: number; connection: string }[]>`select env, connection from runners`;
  const back = await sql.begin(async (tx) => {
    // Reads of suspended runs block here until the run has been resumed.
    await tx`lock table suspended in access exclusive mode`;
    const coming = connected(installed, key, [fence]);
    await expect
      .poll(() => tx`select from runners where connection <> ${before!.connection}`, { timeout: 20_000 })
      .toHaveLength(1);
    const waiting = () => sql`
      select from pg_locks l join pg_stat_activity a using (pid)
       where not l.granted and l.relation = 'suspended'::regclass and a.query like '%from suspended where runner_id%'`;
    await expect.poll(waiting, { timeout: 20_000 }).toHaveLength(1);
    await tx`update waits set over_at = now()`;
    await tx`update suspended set ready_at = now()`;
    const resumed = await tx`select run_id from resume_runs(${before!.env}, now(), 10)`;
    expect(resumed).toEqual([{ run_id: run }]);
    return { coming };
  });
  const { welcome } = await back.coming;
  expect(welcome.lost).toEqual([]);
});

test('a run that is canceled while its runner reconnects is stopped there immediately', async () => {
  const installed = await installation();
  const { hears, fence } = await comingBack(installed, async (tx, { env, run }) => {
    // The canceling process does not find the runner connected anywhere, so it notifies none.
    expect(await tx`select * from cancel_runs(${env}, ${run}, now())`).toHaveLength(1);
  });
  expect((await hears('cancel')).fences).toEqual([fence]);
}, 60_000);

test('the runs of a runner that disconnects before its welcome are reclaimed as quickly as others', async () => {
  const installed = await installation();
  await comingBack(installed, async (_tx, _leased, { socket }) => {
    socket.terminate();
    // By the time the server has responded to these, it has detected the end of the connection.
    for (let n = 0; n < 3; n++) await installed.ask('GET /healthz');
  });
  await expect.poll(() => installed.sql`select from leases`, { timeout: 20_000 }).toHaveLength(0);
}, 60_000);

test('a lease from a slow write is not reclaimed before it can have reached the runner', async () => {
  const installed = await installation();
  const { ask, sql, keys, server } = installed;
  const { say, received } = await holding(installed, keys.prod);
  // With a limit, claims and rescues are serialized.
  const [row] = await sql<{ id: number }[]>`
    update environments set concurrency_limit = 5 where id = (select env from runners) returning id`;
  const waiting = () => sql`
    select from pg_locks l join pg_database d on d.oid = l.database
     where d.datname = current_database() and l.locktype = 'advisory' and not l.granted`;
  const run = await sql.begin(async (tx) => {
    await tx`select claim_lock(${row!.id})`;
    const { body } = await ask('POST /api/v1/tasks/send/trigger', { key: keys.prod, body: {} });
    await expect.poll(waiting, { timeout: 20_000 }).toHaveLength(1);
    // The message waits longer than the interval between heartbeats.
    server.shiftTime(15_000);
    say({ type: 'heartbeat' });
    await expect.poll(waiting, { timeout: 20_000 }).toHaveLength(2);
    return body.id as string;
  });
  const assigned = () =>
    received
      .flatMap((message) => (message.type === 'run' ? message.assignments : []))
      .filter((assignment) => assignment.run === run);
  await expect.poll(assigned, { timeout: 20_000 }).not.toEqual([]);
  const taking = () => sql`
    select from pg_stat_activity
     where datname = current_database() and pid <> pg_backend_pid() and state <> 'idle' and query like '%reclaim_leases%'`;
  await expect.poll(taking, { timeout: 20_000 }).toHaveLength(0);
  const [lease] = await sql<{ fence: string }[]>`select fence from leases where run_id = ${run}`;
  expect(assigned().map((assignment) => assignment.fence)).toEqual([Number(lease?.fence)]);
}, 60_000);

/** The state of the only run in the database. */
const stateOf = async ({ sql }: Installation) =>
  (
    await sql`
      select r.rescues, r.attempt, r.started_at is not null as started, r.version_id is not null as bound,
             q.run_id is not null as queued, q.expires_at
        from runs r left join queued q on q.env = r.env and q.run_id = r.id`
  )[0];

test('a run that runners return repeatedly continues as the same attempt, without a counted loss', async () => {
  const installed = await installation();
  const { say, received, assignment } = await holding(installed, installed.keys.prod);
  const { run, fence } = assignment;
  const complete = (of: number): void =>
    say({ type: 'settle', settlements: [{ run, fence: of, outcome: { kind: 'released', started: true } }] });
  const handed = () =>
    received
      .flatMap((message) => (message.type === 'run' ? message.assignments : []))
      .filter((each) => each.run === run);
  for (let times = 1; times <= 5; times++) {
    complete(handed().at(-1)?.fence ?? 0);
    await expect.poll(() => handed().length, { timeout: 20_000 }).toBe(times + 1);
  }
  expect(new Set(handed().map((each) => each.attempt ?? 1))).toEqual(new Set([1]));
  expect(await stateOf(installed)).toMatchObject({ rescues: 0, attempt: 0, started: true, bound: true });
  // The message arrives twice if the response was lost. By now another attempt owns the run.
  complete(fence);
  await expect
    .poll(() => received.some((message) => message.type === 'settled' && message.stale.includes(fence)), {
      timeout: 20_000,
    })
    .toBe(true);
  expect(await installed.sql`select fence::int from leases`).toEqual([{ fence: handed().at(-1)?.fence }]);
});

test('a run that is returned after its code has begun does not expire', async () => {
  const installed = await installation();
  const runner = await connected(installed, installed.keys.prod);
  await installed.ask('POST /api/v1/tasks/send/trigger', {
    key: installed.keys.prod,
    body: { options: { ttl: '1h' } },
  });
  const [assignment] = (await runner.hears('run')).assignments;
  const { run, fence } = assignment as CompactAssignment;
  runner.say({ type: 'drain' });
  runner.say({ type: 'settle', settlements: [{ run, fence, outcome: { kind: 'released', started: true } }] });
  expect((await runner.hears('settled')).fences).toEqual([fence]);
  // The runner is draining, so the run is not leased to it again.
  expect(await stateOf(installed)).toMatchObject({ queued: true, expires_at: null, rescues: 0 });
});

test.each([
  ['a runner that has stopped cleanly leaves no lost runs', true, 0],
  ['a runner that disappears while draining loses its runs', false, 1],
])('%s', async (_, inOrder, rescues) => {
  const installed = await installation();
  const { say, socket } = await holding(installed, installed.keys.prod);
  say({ type: 'drain' });
  // By the time the server has responded to these, it has processed the message.
  for (let n = 0; n < 3; n++) await installed.ask('GET /healthz');
  if (inOrder) socket.close(1000);
  else socket.terminate();
  await expect
    .poll(() => stateOf(installed), { timeout: 20_000 })
    .toMatchObject({ queued: true, rescues, attempt: 0, bound: true });
});

const properties = { nodeMajor: 22, platform: 'linux-x64-glibc', labels: ['gpu'] };

/** A fetching runner without loaded versions, which receives a run of an uploaded version. */
async function fetching(installed: Installation) {
  const { sql, keys, ask } = installed;
  const runner = await connected(installed, keys.prod, [], { versions: [], fetches: properties });
  await sql`update versions set is_uploaded = true, bundle = '{}', node_major = 22, requires = '{gpu}'`;
  const { body } = await ask('POST /api/v1/tasks/send/trigger', { key: keys.prod, body: {} });
  const [assignment] = (await runner.hears('run')).assignments;
  const handed = () =>
    runner.received.flatMap((message) => (message.type === 'run' ? message.assignments : []));
  return { ...runner, run: body.id as string, assignment: assignment as CompactAssignment, handed };
}

test('a runner that fetches receives the versions to load, and runs of a version that it has not loaded', async () => {
  const installed = await installation();
  const { hears, assignment } = await fetching(installed);
  expect((await hears('load')).versions).toEqual([assignment.version]);
  const { body } = await installed.ask('GET /api/v1/runners', { key: installed.keys.prod });
  expect(body.data).toMatchObject([{ ...properties, versions: [], slots: 5, running: 1 }]);
});

test('a runner that could not serve a version does not receive it for a minute, and the reason is reported', async () => {
  const installed = await installation();
  const { say, assignment, run, handed } = await fetching(installed);
  const { fence, version } = assignment;
  // Sent together, because the run must not be leased to it again in between.
  say({ type: 'unable', version, why: 'its layer is damaged\0' });
  say({ type: 'settle', settlements: [{ run, fence, outcome: { kind: 'released' } }] });
  const reason = async () =>
    (await installed.ask(`GET /api/v1/runs/${run}/reason`, { key: installed.keys.prod })).body
      .message as string;
  await expect
    .poll(reason, { timeout: 20_000 })
    .toContain('the runner on test could not load it (its layer is damaged\uFFFD)');
  // Longer than the poll interval.
  await new Promise((resolve) => setTimeout(resolve, 1_500));
  expect(handed()).toHaveLength(1);
  installed.server.shiftTime(61_000);
  say({ type: 'heartbeat' });
  await expect.poll(() => handed().length, { timeout: 20_000 }).toBe(2);
  expect(handed()[1]).toMatchObject({ run, version });
}, 60_000);

test('a runner whose message could not be handled keeps its attempts until it reconnects', async () => {
  const installed = await installation();
  const { sql, keys } = installed;
  const { assignment, say, hears } = await holding(installed, keys.prod);
  const { fence } = assignment;
  await sql`alter table runners rename column unable to unable_before`;
  say({ type: 'unable', version: 'any', why: 'no' });
  expect(await hears('refused')).toMatchObject({ retry: true });
  await sql`alter table runners rename column unable_before to unable`;
  // Longer than the grace period after a connection that broke.
  await new Promise((resolve) => setTimeout(resolve, 1_500));
  expect(await sql`select fence from leases`).toEqual([{ fence: String(fence) }]);
  const back = await connected(installed, keys.prod, [fence]);
  expect(back.welcome.lost).toEqual([]);
}, 60_000);

test('requests to a runner apply when it reconnects, and are repeated with its heartbeat', async () => {
  const installed = await installation();
  const { ask, keys } = installed;
  const key = keys.prod;
  const first = await connected(installed, key);
  const [{ id }] = (await ask('GET /api/v1/runners', { key })).body.data;
  const path = `POST /api/v1/runners/${encodeURIComponent(id)}`;
  await ask(`${path}/drain`, { key });
  // A busy machine may take longer than the grace period after a connection that broke.
  const back = await connected(installed, key);
  first.socket.terminate();
  await ask('POST /api/v1/tasks/send/trigger', { key, body: {} });
  await new Promise((resolve) => setTimeout(resolve, 1_500));
  expect(back.received.some(({ type }) => type === 'run')).toBe(false);
  await ask(`${path}/drain`, { key, body: { draining: false } });
  await back.hears('run');
  await ask(`${path}/stop`, { key });
  await back.hears('stop');
  back.say({ type: 'heartbeat' });
  await expect
    .poll(() => back.received.filter(({ type }) => type === 'stop').length, { timeout: 20_000 })
    .toBe(2);
  const acts = (await installed.sql`select act from audit_log where act like 'runner.%' order by at`).map(
    ({ act }) => act as string,
  );
  expect(acts).toEqual(['runner.drained', 'runner.resumed', 'runner.stopped']);
}, 60_000);

const invalidOutcome = (fault: string) => ({
  status: 'SYSTEM_FAILURE',
  error: expect.objectContaining({
    name: 'InvalidOutcome',
    message: `The runner reported the end of this run in an invalid message: ${fault}.`,
  }),
});
const kinds = 'outcome.kind must be completed, failed, retry, canceled, released or unknownTask';

test('invalid settlements end their runs with an error and are acknowledged, as are the others in their message', async () => {
  const installed = await installation();
  const { keys, sql, ask } = installed;
  const cases: [unknown, object][] = [
    [null, invalidOutcome('outcome must be an object')],
    [undefined, invalidOutcome('outcome must be an object')],
    [[], invalidOutcome('outcome must be an object')],
    [{}, invalidOutcome(kinds)],
    [{ kind: 'toString' }, invalidOutcome(kinds)],
    [
      { kind: 'completed', output: 1, outputType: 'a' },
      invalidOutcome('outcome.output must be a string or null'),
    ],
    [
      { kind: 'completed', output: 'a' },
      invalidOutcome('outcome.outputType must be a string of at most 256 characters'),
    ],
    [
      { kind: 'failed', status: 'COMPLETED', error: {} },
      invalidOutcome('outcome.status must be one of FAILED, CRASHED, SYSTEM_FAILURE, TIMED_OUT'),
    ],
    [{ kind: 'retry', error: {} }, invalidOutcome('outcome.delayMs must be a number')],
    [
      { kind: 'failed', status: 'FAILED' },
      { status: 'FAILED', error: expect.objectContaining({ name: 'Error' }) },
    ],
    [
      {
        kind: 'failed',
        status: 'FAILED',
        error: { name: {}, message: '"'.repeat(4_000_000), causes: {}, code: 1 },
      },
      {
        status: 'FAILED',
        error: expect.objectContaining({
          message: `${'"'.repeat(16_384)}… (${4_000_000 - 16_384} more characters)`,
        }),
      },
    ],
    [
      { kind: 'completed', output: '1', outputType: 'application/json' },
      { status: 'COMPLETED', error: null },
    ],
  ];
  const { say, received } = await connected(installed, keys.prod, [], { capacity: cases.length });
  for (const [,] of cases) await ask('POST /api/v1/tasks/send/trigger', { key: keys.prod, body: {} });
  const handed = () => received.flatMap((message) => (message.type === 'run' ? message.assignments : []));
  await expect.poll(() => handed().length, { timeout: 20_000 }).toBe(cases.length);
  const settlements = handed().map(({ run, fence }, at) => ({ run, fence, outcome: cases[at]?.[0] }));
  say({ type: 'settle', settlements } as RunnerMessage);
  const settled = () =>
    received
      .flatMap((message) => (message.type === 'settled' ? message.fences : []))
      .toSorted((a, b) => a - b);
  await expect.poll(settled, { timeout: 20_000 }).toEqual(handed().map(({ fence }) => fence));
  for (const [at, { run }] of handed().entries()) {
    const [row] = await sql`select status, error from runs where id = ${run}`;
    expect(row).toEqual(cases[at]?.[1]);
  }
}, 60_000);

const unreadable: [string, RegExp][] = [
  [
    '{"type":"settle","settlements":[{"run":"run_1","outcome":null}]}',
    /^A message was rejected. settle: settlements.0.fence must be/,
  ],
  ['{"type":"log","lines":[null]}', /lines.0 must be an object/],
  ['{"type":"shout"}', /type must be one of hello/],
  ['{"type":"hello"}', /hello: runner must be a text/],
  ['{"type":', /It is not JSON/],
  [`{"type":"log","lines":${'['.repeat(2_000_000)}`, /nested more than 32 levels deep/],
  [`{"type":"serve","versions":[${'{"a":1},'.repeat(60_000)}"a"]}`, /more than 100000 members/],
  [
    `{"type":"log","lines":[],"note":"${'x'.repeat(5_000_000)}"}`,
    /log: a frame of lines and spans must have at most 4194304 bytes/,
  ],
];

test('an invalid or out-of-order message closes the connection with the reason', async () => {
  const installed = await installation();
  const key = installed.keys.prod;
  for (const [text, reason] of unreadable) {
    const { socket, hears } = await connected(installed, key);
    const closed = once(socket, 'close');
    socket.send(text);
    const refusal = await hears('refused');
    expect(refusal).toEqual({ type: 'refused', reason: expect.stringMatching(reason), retry: false });
    await closed;
  }
  const early = new WebSocket(`${installed.server.url.replace('http', 'ws')}/runner/v1/connect`, {
    headers: { authorization: `Bearer ${key}` },
  });
  onTestFinished(() => early.terminate());
  await once(early, 'open');
  early.send('{"type":"heartbeat"}');
  const [data] = (await once(early, 'message')) as [Buffer];
  expect(JSON.parse(data.toString())).toMatchObject({ reason: 'The first message must be hello.' });
  const twice = await connected(installed, key);
  twice.say({ type: 'hello', runner: 'other', host: 'h', pid: 1, capacity: 1, versions: [], leased: [] });
  expect(await twice.hears('refused')).toMatchObject({
    reason: 'hello: only the first message may be a hello.',
  });
}, 60_000);

const line = { run: 'run_1', attempt: 1, at: 1_000, level: 'log', message: 'hello' } as const;
const logFrame = (seq: number, more: object = {}): RunnerMessage => ({
  type: 'log',
  seq,
  lines: [{ ...line, message: `line ${seq}` }],
  ...more,
});
const confirmed = (received: readonly ServerMessage[]) =>
  received.flatMap((message) => (message.type === 'logged' ? [message.seq ?? 0] : []));

test('lines are acknowledged in order when they are stored, and a repeated frame is stored once', async () => {
  const installed = await installation();
  const { sql, keys } = installed;
  const first = await connected(installed, keys.prod, [], { knowsLogged: true });
  expect(first.welcome).toMatchObject({ logFrames: 4, frameLines: 1_000, frameSpans: 500, logged: 0 });
  const stored = async () =>
    (await sql`select message from run_logs order by id`).map((row) => row['message']);
  // PostgreSQL is out of disk space, so it rejects writes as during a restart.
  await sql.unsafe(`
    create function refuse() returns trigger language plpgsql as $$
    begin raise exception 'no space' using errcode = '53100'; end $$;
    create trigger refuse before insert on run_logs for each row execute function refuse()`);
  first.say(logFrame(1));
  first.say(logFrame(2));
  // The heartbeat is handled while the lines wait.
  await expect
    .poll(
      async () => {
        first.say({ type: 'heartbeat' });
        return (await sql`select from runners where heartbeat_at > connected_at`).length;
      },
      { timeout: 20_000 },
    )
    .toBe(1);
  expect(confirmed(first.received)).toEqual([]);
  await sql`drop trigger refuse on run_logs`;
  await expect.poll(() => confirmed(first.received), { timeout: 20_000 }).toEqual([1, 2]);
  expect(await stored()).toEqual(['line 1', 'line 2']);

  const again = await connected(installed, keys.prod, [], { knowsLogged: true });
  expect(again.welcome.logged).toBe(2);
  for (const seq of [1, 2, 3]) again.say(logFrame(seq));
  await expect.poll(() => confirmed(again.received), { timeout: 20_000 }).toEqual([1, 2, 3]);
  expect(await stored()).toEqual(['line 1', 'line 2', 'line 3']);
}, 60_000);

test('lines and spans that can never be stored are replaced by a line with the number of missing ones', async () => {
  const installed = await installation();
  const { sql, keys } = installed;
  const { say, received } = await connected(installed, keys.prod, [], { knowsLogged: true });
  await sql.unsafe(`
    create function refuse() returns trigger language plpgsql as $$
    begin
      if new.message like 'bad%' then raise exception 'bad' using errcode = '22000'; end if;
      return new;
    end $$;
    create trigger refuse before insert on run_logs for each row execute function refuse()`);
  const bad = ['bad 1', 'bad 2'].map((message) => ({ ...line, message }));
  const span = { id: 'a'.repeat(16), name: 'a', at: 1, took: 1 };
  const spans = [
    { run: 'run_1', attempt: 1, trace: 'a'.repeat(32), spans: [span, { ...span, id: 'b'.repeat(16) }] },
  ];
  say(logFrame(1, { lines: [...bad, { ...line, run: 'run_2', message: 'bad' }], spans }));
  say(logFrame(2));
  await expect.poll(() => confirmed(received).toSorted((a, b) => a - b), { timeout: 20_000 }).toEqual([1, 2]);
  const rows = await sql`select run_id, level, message, properties from run_logs order by run_id, message`;
  expect([...rows]).toEqual([
    {
      run_id: 'run_1',
      level: 'warn',
      message: '2 lines are missing here: they could not be stored',
      properties: '{"droppedLines":2}',
    },
    { run_id: 'run_1', level: 'log', message: 'line 2', properties: null },
    {
      run_id: 'run_2',
      level: 'warn',
      message: '1 line is missing here: they could not be stored',
      properties: '{"droppedLines":1}',
    },
  ]);
  expect([...(await sql`select count, dropped from run_spans`)]).toEqual([{ count: 0, dropped: 2 }]);
}, 60_000);

test('lines of any shape are stored as far as possible', async () => {
  const installed = await installation();
  const { sql, keys } = installed;
  const { say, received } = await connected(installed, keys.prod, [], { knowsLogged: true });
  const odd = { run: 'run_1', attempt: 1, at: 'now', level: 'shout', message: { a: 1 }, properties: 7 };
  say(logFrame(1, { lines: [odd, { ...line, at: 1e300, message: 'late\0' }] }));
  await expect.poll(() => confirmed(received), { timeout: 20_000 }).toEqual([1]);
  expect([...(await sql`select level, message, properties from run_logs order by id`)]).toEqual([
    { level: 'log', message: '', properties: null },
    { level: 'log', message: 'late\uFFFD', properties: null },
  ]);
}, 60_000);
