import { auditHandlers } from '../audit/handlers.ts';
import { bulkHandlers } from '../runs/bulk/handlers.ts';
import { variableHandlers } from '../envvars/handlers.ts';
import { errorHandlers } from '../errors/handlers.ts';
import { eventHandlers } from '../events/handlers.ts';
import { refuseUnreadable } from '../events/subscriptions.ts';
import { batchHandlers } from '../batches/handlers.ts';
import { createQuota } from '../runs/create/quota.ts';
import { createGate, createRunBucket, defaultRateLimits, type RateLimits } from '../http/rate-limit.ts';
import { packetHandlers } from '../packets/handlers.ts';
import { pauseHandlers } from '../pause/handlers.ts';
import { queueHandlers } from '../queues/handlers.ts';
import { notificationHandlers } from '../notifications/handlers.ts';
import { changeHandlers } from '../runs/change-handlers.ts';
import { runHandlers } from '../runs/handlers.ts';
import { listHandlers } from '../runs/list/handlers.ts';
import { outcomeHandlers } from '../runs/complete/outcome-handlers.ts';
import { identitiesOfPacket } from '../runs/authorize.ts';
import type { NewRun } from '../runs/create/row.ts';
import { scheduleHandlers } from '../schedules/handlers.ts';
import { syncDeclared } from '../schedules/sync.ts';
import { streamHandlers } from '../realtime/stream-handlers.ts';
import { channelHandlers } from '../sessions/channel-handlers.ts';
import { sessionHandlers } from '../sessions/handlers.ts';
import { keyHandlers, loginHandlers, organizationHandlers, projectHandlers } from '../tenancy/handlers.ts';
import { tokenHandlers } from '../tenancy/token-handlers.ts';
import { waitpointHandlers } from '../waitpoints/handlers.ts';
import { workerHandlers } from '../versions/handlers.ts';
import type { Parts } from './context.ts';

/** One handler for each operation of the contract. */
export function handlersOf(parts: Parts, rateLimits: RateLimits = defaultRateLimits) {
  const { sql, masterKey, clock, engine, runners, dispatch, resume, mint, alarms, noticed } = parts;
  const { trigger, variables, redact, packets, realtime, channels, streams, ensureServed } = parts;
  const { writerHeaders } = parts.appends;
  const { batchRuns } = rateLimits;
  // One for all operations that make several runs: each of them is counted once.
  const takeRuns = createQuota({
    secretKey: createRunBucket(batchRuns?.secretKey),
    publicToken: createRunBucket(batchRuns?.publicToken),
  });
  const tenancy = {
    sql,
    masterKey,
    now: clock.now,
    ended<T>(answer: T): T {
      parts.accessEnded();
      return answer;
    },
  };
  return {
    ...noticed.handlers(runHandlers({ engine, runners, trigger, mint, packets, takeRuns })),
    ...listHandlers(engine),
    ...noticed.handlers(changeHandlers({ engine, dispatch, trigger, redactor: variables.redactor })),
    ...outcomeHandlers(engine),
    ...bulkHandlers(engine, takeRuns, () => alarms.bulk()),
    ...noticed.handlers(
      batchHandlers({
        sql,
        clock,
        engine,
        dispatch,
        mint,
        redact: redact.metadata(async (run: NewRun) => run),
        takeRuns,
      }),
    ),
    ...packetHandlers({
      ...engine,
      addresses: packets,
      identitiesOf: (env, name) => identitiesOfPacket(sql, env, name),
    }),
    ...waitpointHandlers({ engine, masterKey, resume, mint }),
    ...queueHandlers({ sql, clock, wake: dispatch.wake }),
    ...scheduleHandlers({ engine, dispatch, takeRuns, expect: (at) => alarms.tick(at) }),
    ...variableHandlers({ sql, masterKey, now: clock.now, changed: variables.changed }),
    ...errorHandlers(sql, clock),
    ...eventHandlers({ engine, dispatch, takeRuns, expect: (at) => alarms.event(at) }),
    ...notificationHandlers({ sql, masterKey, clock, reach: parts.receivers }),
    ...sessionHandlers({ engine, dispatch, resume, channels, ensureServed, mint }),
    ...channelHandlers({
      channels,
      sessions: parts.sessions,
      streams,
      ensureServed,
      endMessageWaits: parts.endMessageWaits,
      log: parts.log,
      writerHeaders,
    }),
    ...realtime.handlers,
    ...noticed.handlers(
      streamHandlers({ sql, clock, channels, streams, writerHeaders, redactor: variables.redactor }),
    ),
    ...tokenHandlers({ sql, mint }),
    ...keyHandlers(tenancy),
    ...loginHandlers({
      ...tenancy,
      mayAsk: createGate(rateLimits.logins?.asked),
      mayTry: createGate(rateLimits.logins?.tried),
    }),
    ...projectHandlers(tenancy),
    ...organizationHandlers(tenancy),
    ...auditHandlers(sql),
    ...pauseHandlers({ sql, clock, pause: parts.pause }),
    ...workerHandlers(
      {
        ...engine,
        onRegister(tx, env, tasks) {
          refuseUnreadable(tasks);
          return syncDeclared(tx, env, tasks, clock.now());
        },
      },
      dispatch.wake,
    ),
  };
}
