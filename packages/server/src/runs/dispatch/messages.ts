import type { AttemptWaits, RunnerMessage } from '@millrace/contract/runner';
import { sendBranches } from '../../runners/branches.ts';
import type { ConnectedRunner } from '../../runners/runners.ts';
import { notifyCanceled } from '../cancel/cancel.ts';
import { completeSettlements } from '../complete/settlements.ts';
import { beginWaitsWithRetry } from '../waits/begin-with-retry.ts';
import { notifyMissed } from '../waits/resume.ts';
import { allInTurns } from '../../json/turns.ts';
import { storableJson, storableText } from '../values/storable.ts';
import { refuse, type Connection } from './connection-state.ts';
import { extendLease } from './extend-lease.ts';
import { applyRequests } from './apply-requests.ts';
import { detachRuns, reclaimUnheld } from './rescue.ts';

/** Handles a message of a welcomed runner. */
export function handleMessage(
  connection: Connection,
  runner: ConnectedRunner,
  message: Exclude<RunnerMessage, { type: 'hello' }>,
): Promise<void> | undefined {
  switch (message.type) {
    case 'settle':
      return completeSettlements(connection, runner, message.settlements);
    case 'log':
      return storeLog(connection, runner, message);
    case 'wait':
      return beginWaits(connection, runner, message.attempts);
    case 'detach':
      return detach(connection, runner, message.fences);
    case 'heartbeat':
      if (message.at !== undefined) runner.compareClock(message.at, connection.engine.clock.now());
      return renewLease(connection, runner);
    case 'serve':
      return serveVersions(connection, runner, message.versions);
    case 'unable':
      return cannotServe(connection, runner, message);
    case 'capacity':
      runner.capacity = message.capacity;
      connection.dispatch.slotsFreed(connection.env);
      return undefined;
    case 'drain':
      runner.draining = true;
      return keepDraining(connection, runner);
  }
}

/** Confirms a log frame once it is stored. A frame that is not confirmed is resent over the next connection. */
function storeLog(
  connection: Connection,
  runner: ConnectedRunner,
  message: Extract<RunnerMessage, { type: 'log' }>,
): Promise<void> {
  const { env, knowsLogged, storeLines, turns, isOver } = connection;
  const { lines, spans, seq } = message;
  const clean = connection.logging.then(() =>
    storeLines(
      {
        env,
        lines,
        ...(spans && { spans }),
        ...(seq !== undefined && { from: { runner: runner.id, seq } }),
        traceparentOf: (run) => runner.attemptOf(run)?.traceparent,
      },
      (slice) => turns.run(env, slice),
      isOver,
    ),
  );
  connection.logging = clean.then(
    () => undefined,
    () => undefined,
  );
  return clean.then(async ({ stored }) => {
    await stored;
    if (knowsLogged) runner.send({ type: 'logged', ...(seq !== undefined && { seq }) });
  });
}

async function beginWaits(
  connection: Connection,
  runner: ConnectedRunner,
  attempts: readonly AttemptWaits[],
): Promise<void> {
  const { env, dispatch } = connection;
  const waited = await allInTurns(attempts, (attempt) =>
    beginWaitsWithRetry(connection, runner, { ...attempt, env }),
  );
  runner.notifyWaited(waited);
  for (const { fence, state } of waited) if (state === 'stale') runner.release(fence);
  if (waited.some(({ state }) => state === 'suspended')) dispatch.slotsFreed(env);
}

async function detach(
  connection: Connection,
  runner: ConnectedRunner,
  fences: readonly number[],
): Promise<void> {
  for (const fence of fences) runner.release(fence);
  await detachRuns(connection, runner.id, fences);
}

/** Extends the runner's leases and recovers from messages that were lost in either direction. */
export async function renewLease(connection: Connection, runner: ConnectedRunner): Promise<void> {
  const { engine, id, times } = connection;
  const { sql, clock } = engine;
  connection.renewedAt = performance.now();
  // The versions of an idle branch are not polled, and a wake-up may have been lost.
  if (runner.isOnDemand) engine.versions.forget(connection.env);
  const now = clock.now();
  const row = await extendLease(engine, runner.id, id, times);
  // Its runs were reclaimed in the meantime, so it must list the attempts that it holds again.
  if (!row) return refuse(connection, 'This runner was considered lost. Connect again.', true);
  if (applyRequests(runner, row)) connection.dispatch.slotsFreed(connection.env);
  notifyTime(connection, runner);
  const arrivedUntil = runner.arrivedUntil(now - times.heartbeatMs);
  await reclaimUnheld(connection, runner.id, [...runner.leased.keys()], arrivedUntil);
  await notifyMissed(sql, runner);
  await notifyCanceled(sql, runner);
  await sendBranches(sql, runner);
}

/** Smaller differences do not matter for credentials, which the runner signs for ten minutes. */
const clockToleranceMs = 10_000;

/** After a failover, the database's clock may differ from the time in the runner's welcome message. */
function notifyTime(connection: Connection, runner: ConnectedRunner): void {
  const now = connection.engine.clock.now();
  const offset = now - performance.now();
  if (Math.abs(offset - connection.clockOffset) < clockToleranceMs) return;
  connection.clockOffset = offset;
  runner.send({ type: 'time', now });
}

/** Sets the versions that the runner executes. */
async function serveVersions(
  { engine, env, id, dispatch }: Connection,
  runner: ConnectedRunner,
  versions: readonly string[],
): Promise<void> {
  const ids = [...(await engine.versions.ids(env, versions)).values()];
  runner.versions = new Set(ids);
  for (const version of versions) runner.unable.delete(version);
  await engine.sql`
    update runners set versions = ${ids}::int[] where id = ${runner.id} and connection = ${id}`;
  engine.versions.forget(env);
  dispatch.wake(env);
}

/** How long a runner receives no runs of a version that it could not serve. */
const unableMs = 60_000;
const maxWhy = 2_000;

/** The runner returns its runs of this version. `millrace why` shows the reason. */
async function cannotServe(
  { engine, env, id }: Connection,
  runner: ConnectedRunner,
  { version, why: reason }: Extract<RunnerMessage, { type: 'unable' }>,
): Promise<void> {
  const why = storableText(reason).slice(0, maxWhy);
  const now = engine.clock.now();
  for (const [other, { until }] of runner.unable) if (until <= now) runner.unable.delete(other);
  // Takes effect immediately, because the runs that the runner returns in its next message must not be leased to it again.
  runner.unable.set(version, { why, until: now + unableMs });
  const [versionId] = (await engine.versions.ids(env, [version])).values();
  const versions = new Set(runner.versions);
  if (versionId !== undefined) versions.delete(versionId);
  runner.versions = versions;
  engine.log.warn('version.unable', { env, runner: runner.id, version, why });
  await engine.sql`
    update runners set unable = ${storableJson(Object.fromEntries(runner.unable))}::jsonb, versions = ${[...versions]}::int[]
     where id = ${runner.id} and connection = ${id}`;
}

/** Stored so that lists show it. The runner does not wait for the result. */
async function keepDraining({ engine, id }: Connection, runner: ConnectedRunner): Promise<void> {
  await engine.sql`
    update runners set draining = true, stopping = true where id = ${runner.id} and connection = ${id}`;
}
