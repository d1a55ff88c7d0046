import { accessPruner } from '../audit/prune.ts';
import { channelPruner } from '../log/prune.ts';
import { bulkPruner } from '../runs/bulk/prune.ts';
import { bulkWorker } from '../runs/bulk/work.ts';
import { startDeliverer } from '../events/deliverer.ts';
import { eventPruner } from '../events/prune.ts';
import { batchKeeper } from '../batches/abort.ts';
import { packetPruner } from '../packets/prune.ts';
import { startMessenger } from '../notifications/messenger.ts';
import { notificationPruner } from '../notifications/prune.ts';
import { runPruner } from '../runs/prune.ts';
import { tickPruner } from '../schedules/prune.ts';
import { startScheduler } from '../schedules/scheduler.ts';
import { sessionPruner } from '../sessions/prune.ts';
import { sessionWatcher } from '../sessions/watch.ts';
import { environmentPruner } from '../tenancy/prune.ts';
import { duties, type Retention } from './engine-jobs.ts';
import { startPromoter } from '../runs/dispatch/promoter.ts';
import { startDuty } from '../jobs/run-job.ts';
import { tokenPruner } from '../waitpoints/prune.ts';
import type { Alarms, Parts } from './context.ts';

/** Starts everything that happens without a request, and lets the other parts say when something falls due. */
export function startUpkeep(parts: Parts, retention: Retention): { stop(): Promise<unknown> } {
  const { sql, log, masterKey, clock, engine, runners, dispatch, resume, settle, variables, alarms } = parts;
  const promoter = startPromoter(engine, dispatch, resume);
  const scheduler = startScheduler({ engine, runners, dispatch }, (duty) => startDuty(duty, log));
  const deliverer = startDeliverer({ engine, dispatch }, (duty) => startDuty(duty, log));
  const messenger = startMessenger({ sql, log, clock, masterKey, egress: parts.receivers }, (duty) =>
    startDuty(duty, log),
  );
  const bulk = startDuty(bulkWorker({ engine, runners, dispatch, redactor: variables.redactor }), log);
  const before = { ...alarms };
  Object.assign(alarms, {
    due: promoter.expect,
    tick: scheduler.expect,
    event: deliverer.expect,
    bulk: bulk.hurry,
  } satisfies Alarms);
  const others = [
    ...duties({ engine, dispatch, settle }, retention),
    runPruner(engine, retention.runsMs),
    batchKeeper(engine, retention.runsMs),
    bulkPruner(engine, retention.runsMs),
    packetPruner(engine),
    tokenPruner(engine, retention.runsMs),
    tickPruner(engine),
    eventPruner(engine, retention.eventsMs),
    notificationPruner(sql, clock, retention.notificationsMs),
    sessionPruner(engine, retention.sessionsMs),
    sessionWatcher(engine, parts),
    channelPruner(sql, clock, retention.recordsMs),
    accessPruner(sql),
    environmentPruner(sql, clock),
  ].map((duty) => startDuty(duty, log));
  return {
    stop() {
      Object.assign(alarms, before);
      return Promise.all(
        [promoter, scheduler, deliverer, messenger, bulk, ...others].map((duty) => duty.stop()),
      );
    },
  };
}
