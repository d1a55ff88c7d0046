import { environmentTypes } from '@millrace/contract';
import {
  messageLimits,
  type RunnerProperties,
  type RunnerMessage,
  type ServerMessage,
} from '@millrace/contract/runner';
import { sendBranches } from '../../runners/branches.ts';
import { databaseNow } from '../../db/clock.ts';
import { ConnectedRunner } from '../../runners/runners.ts';
import { notifyCanceled } from '../cancel/cancel.ts';
import { storableText } from '../values/storable.ts';
import { refuse, rescueUnlessBack, type Connection } from './connection-state.ts';
import { applyRequests, type RunnerRequests } from './apply-requests.ts';
import { reclaimUnheld } from './rescue.ts';

type Hello = Extract<RunnerMessage, { type: 'hello' }>;

/** How many log frames a runner may send before they are stored, so that other messages do not wait long behind them. */
const logFrames = 4;

/** Registers a runner. The attempts that it holds and has lost are determined before the welcome message. */
export async function handleHello(connection: Connection, hello: Hello): Promise<void> {
  const { engine, env, runners, dispatch, resume } = connection;
  const { clock, versions } = engine;
  const now = clock.now();
  const { kind, branch } = connection.environment;
  if (kind === environmentTypes.preview && branch === null && hello.servesBranches !== true)
    return refuse(
      connection,
      'x-service-branch header required for the preview environment: name a branch of it (--branch)',
      false,
    );
  const ids = [...(await versions.ids(env, hello.versions)).values()];
  const requests = await register(connection, hello, ids, now);
  if (!requests) {
    return refuse(connection, 'A runner in another environment has this id.', false);
  }
  const send = (message: ServerMessage): void => {
    if (connection.isOpen) connection.socket.send(message);
  };
  const properties = hello.fetches && checkedProperties(hello.fetches);
  const runner = new ConnectedRunner(hello.runner, env, hello.capacity, new Set(ids), send, properties);
  runner.host = hello.host;
  if (hello.at !== undefined) runner.compareClock(hello.at, now);
  await readLeased(connection, hello, runner);
  // Attempts leased to it over an older connection that never arrived.
  await reclaimUnheld(connection, hello.runner, hello.leased, now);
  const variables = await connection.readVariables(env);
  runner.revision = variables.revision ?? 0;
  runner.isOnDemand = hello.isOnDemand === true;
  if (hello.servesBranches === true) runner.branches = '';
  if (!connection.isOpen) return rescueUnlessBack(connection, hello.runner);
  const before = runners.get(hello.runner);
  if (before) runners.remove(before);
  connection.runner = runner;
  connection.knowsLogged = hello.knowsLogged === true;
  const { heartbeatMs, leaseMs } = connection.times;
  connection.clockOffset = clock.now() - performance.now();
  runner.send({
    type: 'welcome',
    heartbeatMs,
    leaseMs,
    ...(connection.knowsLogged && {
      logFrames,
      frameLines: messageLimits.lines,
      frameSpans: messageLimits.spans,
      logged: Number(requests.logged),
    }),
    now: clock.now(),
    lost: hello.leased.filter((fence) => !runner.leased.has(fence)),
    ...variables,
    environment: connection.environment,
  });
  applyRequests(runner, requests);
  runners.add(runner);
  const { host, pid } = hello;
  engine.log.info('runner.connected', { runner: hello.runner, host, pid, env, leased: runner.leased.size });
  dispatch.wake(env);
  resume(env);
  // Sent only once the runner is in `runners`: later cancellations find it there, and earlier ones reached no runner.
  await notifyCanceled(engine.sql, runner);
  await sendBranches(engine.sql, runner);
}

/** The requests made earlier, if the runner reconnects. Undefined if a runner of another environment has the id. */
async function register(
  { engine, env, id, times }: Connection,
  { runner, host, pid, capacity, fetches, release }: Hello,
  versions: readonly number[],
  now: number,
): Promise<(RunnerRequests & { readonly logged: string }) | undefined> {
  const properties = fetches && checkedProperties(fetches);
  const [row] = await engine.sql<(RunnerRequests & { readonly logged: string })[]>`
    with named as (
      insert into runner_names as n (env, runner_id, host, pid, last_seen_at)
      values (${env}, ${runner}, ${host}, ${pid}, ${new Date(now)})
      on conflict (env, runner_id) do update set host = excluded.host, pid = excluded.pid,
                                                 last_seen_at = greatest(n.last_seen_at, excluded.last_seen_at)
      returning no, logged
    )
    insert into runners (id, env, host, pid, connection, connected_at, heartbeat_at, expires_at, versions, slots, platform, node_major, labels,
                         no, release)
    select ${runner}, ${env}::int, ${host}, ${pid}::int, ${id}, ${new Date(now)}::timestamptz, n.at,
           n.at + ${times.leaseMs}::float8 * interval '1 millisecond', ${[...versions]}::int[], ${capacity}::int, ${properties?.platform ?? null},
           ${properties?.nodeMajor ?? null}::int, ${[...(properties?.labels ?? [])]}::text[], named.no,
           ${typeof release === 'string' ? storableText(release).slice(0, 64) : null}
      from named cross join (select ${databaseNow(engine)} as at) n
    on conflict (id) do update set connection = excluded.connection, connected_at = excluded.connected_at,
                                   heartbeat_at = excluded.heartbeat_at, expires_at = excluded.expires_at,
                                   versions = excluded.versions, slots = excluded.slots, platform = excluded.platform,
                                   node_major = excluded.node_major, labels = excluded.labels, unable = '{}',
                                   no = excluded.no, release = excluded.release
      where runners.env = excluded.env
    returning draining, stopping, (select logged from named)`;
  return row;
}

/** Keeps only values of the right type: the runner may be of another release, or a custom implementation. */
const checkedProperties = ({ nodeMajor, platform, labels }: RunnerProperties): RunnerProperties => ({
  nodeMajor: Number.isInteger(nodeMajor) && nodeMajor >= 0 && nodeMajor <= 1_000 ? nodeMajor : 0,
  platform: typeof platform === 'string' ? storableText(platform).slice(0, 64) : '',
  labels: Array.isArray(labels)
    ? labels
        .filter((label) => typeof label === 'string' && label.length <= 64)
        .map((label) => storableText(label))
    : [],
});

interface LeasedRow {
  readonly run_id: string;
  readonly fence: string;
  /** The number of its suspension, if it is suspended. */
  readonly suspension: string | null;
  readonly task: string;
  readonly queue: string;
  readonly version: string | null;
  readonly ms: number | null;
  readonly attempt: number;
  readonly traceparent: string | null;
}

/** Determines which attempts the runner holds, according to both the runner and the database. */
async function readLeased({ engine, env }: Connection, hello: Hello, runner: ConnectedRunner): Promise<void> {
  // Read in one statement. Two statements could both miss a run that is resumed between them, and its code would be abandoned.
  const leased = await engine.sql<LeasedRow[]>`
    select l.run_id, l.fence, l.suspension, l.attempt, r.task, r.traceparent, q.name as queue, v.version,
           extract(epoch from ${new Date(engine.clock.now())}::timestamptz - l.leased_at)::float8 * 1000 as ms
      from (select env, run_id, fence, attempt, null as suspension, leased_at, version_id from leases where runner_id = ${hello.runner}
            union all
            select env, run_id, fence, attempt, suspension, null, version_id from suspended where runner_id = ${hello.runner}) l
      join runs r on r.env = l.env and r.id = l.run_id
      join queues q on q.id = r.queue_id
      left join versions v on v.id = l.version_id`;
  const reported = new Set(hello.leased);
  for (const { run_id: run, suspension, fence: text, version, ms, ...row } of leased) {
    const fence = Number(text);
    if (!reported.has(fence)) continue;
    const { task, attempt, traceparent, queue } = row;
    const began = ms === null ? {} : { began: performance.now() - ms };
    runner.leased.set(fence, {
      env,
      run,
      task,
      attempt,
      traceparent,
      queue,
      version: version ?? undefined,
      ...began,
    });
    if (suspension !== null) runner.suspend(fence, Number(suspension));
  }
}
