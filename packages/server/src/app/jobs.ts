import { alertEvaluator } from '../notifications/alerts/evaluator.ts';
import { batchKeeper } from '../batches/abort.ts';
import { deploymentPruner } from '../versions/deployments/retention.ts';
import { errorJobs } from '../errors/jobs.ts';
import { deliverer } from '../events/deliverer.ts';
import { eventPruner } from '../events/prune.ts';
import { startJob, type Job, type Ticked } from '../jobs/job.ts';
import { channelPruner } from '../channels/prune.ts';
import { messenger } from '../notifications/messenger.ts';
import { outboxDrainer } from '../outbox/drainer.ts';
import { packetPruner } from '../payloads/prune.ts';
import { runnerNamePruner } from '../runners/prune-names.ts';
import { bulkPruner } from '../runs/bulk/prune.ts';
import { bulkWorker } from '../runs/bulk/work.ts';
import { eraser } from '../runs/erase/eraser.ts';
import { expirer } from '../runs/dispatch/expirer.ts';
import { leaseWatch } from '../runs/dispatch/lease-watch.ts';
import { promoter } from '../runs/dispatch/promoter.ts';
import { rescuer } from '../runs/dispatch/rescuer.ts';
import { startPruner } from '../runs/dispatch/start-pruner.ts';
import { unblocker } from '../runs/dispatch/unblocker.ts';
import { logIndexer } from '../runs/logs/blocks.ts';
import { logPruner } from '../runs/logs/store.ts';
import { modelPruner } from '../runs/models/prune.ts';
import { pathKeeper } from '../runs/paths/backfill.ts';
import { runPruner } from '../runs/retention/prune.ts';
import { spanPruner } from '../runs/spans/prune.ts';
import { scheduler } from '../schedules/scheduler.ts';
import { sessionPruner } from '../sessions/prune.ts';
import { sessionWatcher } from '../sessions/watch.ts';
import { fleetSampler } from '../telemetry/stats/sample.ts';
import { statsFlusher } from '../telemetry/stats/flush.ts';
import { statsPruner } from '../telemetry/stats/prune.ts';
import { identityKeeper } from '../tenancy/oidc/job.ts';
import { environmentPruner } from '../tenancy/prune.ts';
import { pendingReleaser } from '../versions/pending-releaser.ts';
import { tokenPruner } from '../waitpoints/prune.ts';
import { webhookPruner } from '../events/webhooks/prune.ts';
import { rejectionPruner, rejectionWriter } from '../events/webhooks/rejections.ts';
import { repetitionWriter } from '../events/webhooks/repetitions.ts';
import type { ServerContext } from './context.ts';
import { rowPruners } from './row-pruners.ts';

/** All background jobs of a server. Add new ones here. */
const jobsOf = (context: ServerContext): Job[] => {
  const { sql, clock, masterKey, engine, runners, dispatch, timers, retention } = context;
  const { redactor } = context.variables;
  return [
    promoter({ ...context, timer: timers.runs }),
    expirer(engine),
    leaseWatch(engine, context.leaseTimes),
    rescuer(context),
    unblocker(context),
    startPruner(engine),
    logPruner(engine, retention.logsMs),
    logIndexer(engine),
    spanPruner(engine, retention.logsMs),
    modelPruner(engine),
    pathKeeper(engine),
    runPruner(engine, retention.runsMs),
    runnerNamePruner(engine),
    { ...bulkWorker({ engine, runners, dispatch, redactor }), timer: timers.bulkActions },
    bulkPruner(engine, retention.runsMs),
    eraser(engine),
    batchKeeper(engine, retention.runsMs),
    packetPruner(engine),
    tokenPruner(engine, retention.runsMs),
    pendingReleaser({ ...engine, wake: dispatch.wake }),
    deploymentPruner({ ...engine, store: context.store }),
    ...errorJobs(engine, { hours: retention.occurrencesMs, days: retention.errorHoursMs }),
    scheduler({ ...context, timer: timers.schedules }),
    deliverer({ ...context, timer: timers.events }),
    eventPruner(engine, retention.eventsMs),
    webhookPruner(engine, retention.webhooksMs),
    rejectionWriter(sql, context.rejections),
    rejectionPruner(sql, clock),
    repetitionWriter(sql, context.repetitions),
    outboxDrainer({ engine, dispatch, redactor, timer: timers.outbox }),
    messenger({ ...context, masterKey, egress: context.receivers }),
    alertEvaluator(context),
    sessionWatcher(engine, context),
    sessionPruner(engine, retention.sessionsMs),
    channelPruner(sql, clock, retention.recordsMs),
    statsFlusher(engine),
    fleetSampler(engine),
    statsPruner(engine),
    ...(context.provider
      ? [identityKeeper({ sql, confirmer: context.confirmer, watched: context.access.watched })]
      : []),
    environmentPruner(sql, clock),
    ...rowPruners(context),
  ];
};

/** The interval of housekeeping, which can wait: at the start of a server, it would compete with the first requests for the database. */
const housekeepingMs = 60_000;
const firstHousekeepingMs = 5_000;
/** Jobs that begin one after the other share a connection. If all begin at once, they open every connection of the pool. */
const staggerMs = 10;

export interface RunningJobs {
  /** Runs a tick of the named jobs now. */
  wake(names: readonly string[]): void;
  stop(): Promise<void>;
}

/** Starts every background job. */
export function startJobs(context: ServerContext, onTick: (ticked: Ticked) => void): RunningJobs {
  const { jobWatch } = context;
  const jobs = jobsOf(context);
  jobWatch.started(jobs);
  const observe = (ticked: Ticked): void => {
    jobWatch.observe(ticked);
    onTick(ticked);
  };
  const running = new Map(
    jobs.map((job, index) => [
      job.name,
      startJob(job, {
        ...context,
        onTick: observe,
        firstInMs: index * staggerMs + (job.everyMs >= housekeepingMs ? firstHousekeepingMs : 0),
      }),
    ]),
  );
  return {
    wake(names) {
      for (const name of names) running.get(name)?.wakeNow();
    },
    async stop() {
      await Promise.all([...running.values()].map((job) => job.stop()));
      jobWatch.started([]);
    },
  };
}
