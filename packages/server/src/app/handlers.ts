import { operations } from '@millrace/contract';
import { alertHandlers } from '../notifications/alerts/handlers.ts';
import { auditHandlers } from '../audit/handlers.ts';
import { recordAgents } from '../audit/record-agent.ts';
import { cancelLiveRuns, countLiveRuns } from '../runs/cancel/cancel-live.ts';
import { bulkHandlers } from '../runs/bulk/handlers.ts';
import { archiveHandlers } from '../runs/archive/handlers.ts';
import { erasureHandlers } from '../runs/erase/handlers.ts';
import { variableHandlers } from '../envvars/handlers.ts';
import { errorHandlers } from '../errors/handlers.ts';
import { eventHandlers } from '../events/handlers.ts';
import { refuseUnreadable } from '../events/subscriptions.ts';
import { batchHandlers } from '../batches/handlers.ts';
import { createQuota } from '../runs/create/quota.ts';
import { networkOf } from '../http/address-limit.ts';
import { createThrottle, createRunBucket, defaultRateLimits, type RateLimits } from '../http/rate-limit.ts';
import { findTriggered } from '../outbox/find.ts';
import { outboxHandlers } from '../outbox/handlers.ts';
import { packetHandlers } from '../payloads/handlers.ts';
import { pauseHandlers } from '../operations/pause/handlers.ts';
import { queueHandlers } from '../queues/handlers.ts';
import { notificationHandlers } from '../notifications/handlers.ts';
import { changeHandlers } from '../runs/change/handlers.ts';
import { runnerHandlers } from '../runners/handlers.ts';
import { attemptHandlers } from '../runs/attempts/handlers.ts';
import { cancelHandlers } from '../runs/cancel/handlers.ts';
import { triggerHandlers } from '../runs/create/handlers.ts';
import { retrieveHandlers } from '../runs/retrieve/handlers.ts';
import { listHandlers } from '../runs/list/handlers.ts';
import { declareFindBy } from '../runs/paths/declare.ts';
import { declareRetention } from '../runs/retention/declare.ts';
import { logHandlers } from '../runs/logs/handlers.ts';
import { modelHandlers } from '../runs/models/handlers.ts';
import { spanHandlers } from '../runs/spans/handlers.ts';
import { pathHandlers } from '../runs/paths/handlers.ts';
import { outcomeHandlers } from '../runs/complete/outcome-handlers.ts';
import { identitiesOfPacket } from '../runs/access/authorize.ts';
import type { CreateDependencies } from '../versions/deployments/create.ts';
import { doctorHandlers } from '../operations/doctor/handlers.ts';
import { deploymentHandlers } from '../versions/deployments/handlers.ts';
import { taskHandlers } from '../runs/tasks/handlers.ts';
import { stepHandlers } from '../runs/steps/handlers.ts';
import { timelineHandlers } from '../runs/timeline/handlers.ts';
import { scheduleHandlers } from '../schedules/handlers.ts';
import { checkDeclared, syncDeclared } from '../schedules/sync.ts';
import { storageHandlers } from '../operations/storage/handlers.ts';
import { inputHandlers } from '../realtime/input-handlers.ts';
import { streamHandlers } from '../realtime/stream-handlers.ts';
import { channelHandlers } from '../sessions/channel-handlers.ts';
import { sessionHandlers } from '../sessions/handlers.ts';
import { browserHandlers } from '../tenancy/browser/handlers.ts';
import { keyHandlers, loginHandlers, organizationHandlers, projectHandlers } from '../tenancy/handlers.ts';
import { tokenHandlers } from '../tenancy/token-handlers.ts';
import { chartHandlers } from '../telemetry/charts/handlers.ts';
import { statsHandlers } from '../telemetry/stats/handlers.ts';
import { waitpointHandlers } from '../waitpoints/handlers.ts';
import { lockVersions } from '../versions/add.ts';
import { workerHandlers } from '../versions/handlers.ts';
import { currentTasks } from '../versions/promote.ts';
import type { RegisterDependencies } from '../versions/register.ts';
import { declareWebhooks } from '../events/webhooks/declare.ts';
import { webhookHandlers } from '../events/webhooks/handlers.ts';
import type { ServerContext } from './context.ts';

/** One handler for each operation of the contract. */
export function handlersOf(context: ServerContext, rateLimits: RateLimits = defaultRateLimits) {
  const { sql, masterKey, clock, engine, runners, dispatch, resume, mint, timers, log } = context;
  const { trigger, packets, realtime, channels, streams, ensureServed, sessions, endMessageWaits } = context;
  const { changed, redactor } = context.variables;
  const { writerHeaders } = context.appends;
  const { batchRuns } = rateLimits;
  // All operations that create several runs share one quota, so that each run is counted once.
  const takeRuns = createQuota({
    secretKey: createRunBucket(batchRuns?.secretKey),
    publicToken: createRunBucket(batchRuns?.publicToken),
  });
  const deploying: RegisterDependencies & Pick<CreateDependencies, 'check'> = {
    ...engine,
    check({ kind }, tasks) {
      refuseUnreadable(tasks);
      checkDeclared(kind, tasks, clock.now());
    },
    async onPromote(tx, env, tasks) {
      await syncDeclared(tx, env, tasks, clock.now());
      await declareFindBy(tx, env, tasks, clock.now());
      await declareWebhooks(tx, env, tasks);
      await declareRetention(tx, env, tasks);
    },
  };
  const tenancy = {
    sql,
    masterKey,
    tenancyLimits: context.tenancyLimits,
    now: clock.now,
    ended<T>(answer: T): T {
      context.accessEnded();
      return answer;
    },
  };
  return recordAgents(sql, operations, {
    ...triggerHandlers({ engine, trigger, mint, takeRuns }),
    ...retrieveHandlers({
      engine,
      packets,
      findTriggered: (environment, id) => findTriggered(sql, environment, id),
    }),
    ...cancelHandlers(engine, runners),
    ...outboxHandlers({ engine, dispatch, redactor, takeRuns }),
    ...listHandlers(engine),
    ...pathHandlers(engine),
    ...changeHandlers({ engine, dispatch, trigger, redactor }),
    ...outcomeHandlers(engine),
    ...logHandlers(engine),
    ...spanHandlers(engine),
    ...modelHandlers(engine),
    ...attemptHandlers(engine),
    ...stepHandlers({ engine, masterKey, packets, redactor }),
    ...timelineHandlers(engine),
    ...taskHandlers(engine),
    ...bulkHandlers(engine, takeRuns, () => timers.bulkActions.wakeNow()),
    ...erasureHandlers(engine),
    ...archiveHandlers(engine),
    ...batchHandlers({
      sql,
      clock,
      engine,
      dispatch,
      mint,
      redactor,
      takeRuns,
    }),
    ...packetHandlers({
      ...engine,
      addresses: packets,
      identitiesOf: (env, name) => identitiesOfPacket(sql, env, name),
    }),
    ...waitpointHandlers({ engine, masterKey, resume, mint }),
    ...queueHandlers({ sql, clock, wake: dispatch.wake }),
    ...scheduleHandlers({ engine, dispatch, takeRuns, expect: (at) => timers.schedules.wakeAt(at) }),
    ...variableHandlers({ sql, masterKey, now: clock.now, changed }),
    ...errorHandlers(sql, clock),
    ...eventHandlers({ engine, dispatch, resume, takeRuns, expect: (at) => timers.events.wakeAt(at) }),
    ...webhookHandlers({ engine, dispatch, masterKey, webhooks: context.webhooks }),
    ...notificationHandlers({ sql, masterKey, clock, egress: context.receivers }),
    ...alertHandlers({ sql, clock }),
    ...sessionHandlers({ engine, dispatch, resume, channels, ensureServed, mint, addresses: packets }),
    ...channelHandlers({
      channels,
      sessions,
      streams,
      ensureServed,
      endMessageWaits,
      log,
      writerHeaders,
    }),
    ...realtime.handlers,
    ...inputHandlers({ sql, channels, streams, redactor, endMessageWaits }),
    ...streamHandlers({ ...engine, channels, streams, writerHeaders, redactor }),
    ...tokenHandlers({ sql, mint }),
    ...keyHandlers(tenancy),
    ...loginHandlers({
      ...tenancy,
      mayAsk: createThrottle(rateLimits.logins?.requests),
      mayTry: createThrottle(rateLimits.logins?.tried),
    }),
    ...browserHandlers({
      ...tenancy,
      ...browserThrottles(rateLimits),
      log,
      pausedSince: () => context.pause.since,
      providerName: context.provider?.settings.name,
    }),
    ...projectHandlers({
      ...tenancy,
      onBranch: context.branchesChanged,
      countLiveRuns: (env) => countLiveRuns(sql, env),
      cancelLiveRuns: (env, record) => cancelLiveRuns(engine, runners, env, { record }),
      async declareSchedules(tx, env) {
        await lockVersions(tx, env);
        await syncDeclared(tx, env, await currentTasks(tx, env), clock.now());
      },
    }),
    ...organizationHandlers(tenancy),
    ...auditHandlers(sql),
    ...statsHandlers(sql, clock),
    ...chartHandlers(sql, clock),
    ...storageHandlers(sql),
    ...doctorHandlers({
      sql,
      direct: context.direct,
      jobs: context.jobWatch,
      delivery: context.delivery,
      runners,
      runRetentionMs: context.retention.runsMs,
    }),
    ...pauseHandlers({ sql, clock, pause: context.pause }),
    ...workerHandlers(deploying, dispatch.wake),
    ...runnerHandlers({ ...engine, runners, requestsChanged: context.requestsChanged }),
    ...deploymentHandlers({
      ...deploying,
      maxBundleBytes: context.maxBundleBytes,
      store: context.store,
      localBuild: context.localBuild,
      wake: dispatch.wake,
      onMove(env, runs) {
        engine.changes.changed(env, runs);
        dispatch.wake(env);
      },
    }),
  });
}

/** Limits for browser logins. */
function browserThrottles({ browsers = {} }: RateLimits) {
  const logins = createThrottle(browsers.logins);
  const both = createThrottle(browsers.passwords);
  const byUser = createThrottle(browsers.userPasswords);
  const byAddress = createThrottle(browsers.addressPasswords);
  return {
    mayLogIn: (address: string) => logins(networkOf(address)),
    mayTryPassword(email: string, address: string): boolean {
      const network = networkOf(address);
      // The address comes first, so that an attacker at one address cannot use up the user's attempts from other addresses.
      return both(`${network} ${email}`) && byAddress(network) && byUser(email);
    },
    mayLink: createThrottle(browsers.links),
  };
}
