import {
  batchItemLimit,
  batchLimit,
  eventBodyLimit,
  webhookBodyLimit,
  maxBulkRuns,
  maxErasedRuns,
  maxConcurrency,
  maxCounted,
  maxErrorRules,
  maxCharts,
  maxModelPrices,
  maxEventsAtOnce,
  maxKeyTasks,
  maxKeyWeight,
  maxKeyWeights,
  maxMetadataBytes,
  maxPacketBytes,
  maxPatternCharacters,
  maxStepName,
  maxSteps,
  maxRateLimit,
  maxRatePeriod,
  maxRecordsAtOnce,
  maxVariableName,
  maxVariableValue,
  recentRuns,
  oneShotBatchLimit,
  outboxLimit,
  packetThreshold,
  passwordLength,
  sessionBodyLimit,
  triggerBodyLimit,
  triggerManyLimit,
} from '@millrace/contract';
import {
  machineMemory,
  maxBatchSize,
  maxBatchWaitMs,
  frameLimits,
  maxFrameBytes,
  messageLimits,
  maxPayloadSchemaBytes,
  maxPayloadSchemasBytes,
  maxSuspended,
  spanLimits,
} from '@millrace/contract/runner';
import { retentionLimits } from '@millrace/contract/plain';
import * as metadata from '../../packages/contract/src/metadata.ts';
import { appendBodyLimit } from '../../packages/contract/src/operations/channels.ts';
import { linesAround } from '../../packages/contract/src/operations/sources.ts';
import { importLimit } from '../../packages/contract/src/operations/envvars.ts';
import { maxBackfilled } from '../../packages/contract/src/operations/schedules.ts';
import { dataLimit } from '../../packages/contract/src/operations/waitpoints.ts';
import { importMs } from '../../packages/millrace/src/bundle/index-tasks.ts';
import { maxBuilds as builds } from '../../packages/millrace/src/bundle/prune.ts';
import { maxCharacters } from '../../packages/millrace/src/mcp/bounded.ts';
import { maxWatchSeconds } from '../../packages/millrace/src/mcp/tools/runs.ts';
import { longest as consoleCharacters } from '../../packages/runner/src/executor/capture-console.ts';
import { maxLineBytes } from '../../packages/runner/src/executor/read-message.ts';
import { startsAtMost } from '../../packages/runner/src/runner/crash.ts';
import { defaultLimits, startMs } from '../../packages/runner/src/runner/limits.ts';
import { maxLinesSize as runnerLines } from '../../packages/runner/src/runner/outbox.ts';
import { maxLinesSize as executorLines } from '../../packages/runner/src/executor/serving.ts';
import { maxUndoneBytes } from '../../packages/server/src/http/runner-socket.ts';
import { defaultBodyMembers } from '../../packages/contract/src/operation.ts';
import { maxJsonLevels, maxJsonMembers } from '../../packages/contract/src/json.ts';
import { unnamedMachine } from '../../packages/runner/src/runner/pool.ts';
import { outputLimit } from '../../packages/sdk/src/executor/outcome.ts';
import { bounds, maxCauses, maxLevels } from '../../packages/sdk/src/executor/serialize-error.ts';
import { hookLimitMs } from '../../packages/sdk/src/hooks/call.ts';
import { maxCharacters as loggerCharacters } from '../../packages/sdk/src/logger/properties.ts';
import { idleHours, maxSessionDays } from '../../packages/server/src/auth/browser/live.ts';
import { maxLifetime, maxLifetimeByRun } from '../../packages/server/src/auth/public-token-request.ts';
import { abandonedMs } from '../../packages/server/src/batches/abort.ts';
import { maxStepsShown } from '../../packages/server/src/runs/timeline/read.ts';
import { maxCollectedBytes } from '../../packages/server/src/runs/create/collect.ts';
import { maxPending } from '../../packages/server/src/runs/bulk/create.ts';
import { maxPendingErasures } from '../../packages/server/src/runs/erase/create.ts';
import { maxRecordBytes } from '../../packages/server/src/channels/record.ts';
import { oldestMajor } from '../../packages/server/src/db/migrate.ts';
import { maxTogether, maxVariables } from '../../packages/server/src/envvars/rules.ts';
import * as filters from '../../packages/server/src/events/filter.ts';
import { maxSegments } from '../../packages/server/src/events/pattern.ts';
import { defaultBodyLimit, openBodyLimit } from '../../packages/server/src/http/mount.ts';
import { defaultAdmissionLimits } from '../../packages/server/src/http/admission.ts';
import { defaultRateLimits, type RateLimit } from '../../packages/server/src/http/rate-limit.ts';
import { defaultTenancyLimits } from '../../packages/server/src/tenancy/limits.ts';
import { defaultMaxBundleBytes } from '../../packages/server/src/versions/deployments/check-bundle.ts';
import { moveMs } from '../../packages/server/src/versions/deployments/move.ts';
import { maxMapBytes } from '../../packages/server/src/versions/deployments/sources/maps.ts';
import { retainedVersions, uploadMs } from '../../packages/server/src/versions/deployments/retention.ts';
import { retentionMs } from '../../packages/server/src/http/idempotent-responses.ts';
import { maxRunPaths } from '../../packages/contract/src/operations/run-paths.ts';
import { maxAlerts } from '../../packages/server/src/notifications/alerts/create.ts';
import { maxSubjects } from '../../packages/server/src/notifications/alerts/notify-subjects.ts';
import { maxSaying } from '../../packages/server/src/runs/list/read-filter.ts';
import { maxEndpoints } from '../../packages/server/src/notifications/create.ts';
import * as deliveries from '../../packages/server/src/notifications/deliver.ts';
import { defaultLeaseTimes } from '../../packages/server/src/runs/dispatch/connection-state.ts';
import { maxBehind } from '../../packages/server/src/realtime/line-feed.ts';
import { dayMs, modelRetentionDays } from '../../packages/server/src/runs/models/usage.ts';
import { maxLineCharacters } from '../../packages/server/src/runs/logs/fit.ts';
import { maxEvents } from '../../packages/server/src/runs/complete/outcome.ts';
import * as triggers from '../../packages/server/src/runs/create/prepare.ts';
import { minDebounceMs } from '../../packages/server/src/runs/create/debounce.ts';
import { maxRescues } from '../../packages/server/src/runs/dispatch/rescue.ts';
import { maxChildren } from '../../packages/server/src/runs/retrieve/retrieve.ts';
import {
  maxAttempts as maxShownAttempts,
  maxWaits as maxShownWaits,
} from '../../packages/server/src/runs/timeline/read.ts';
import { maxPauseMs } from '../../packages/server/src/runs/complete/write.ts';
import { graceMs as lateMs } from '../../packages/server/src/schedules/rules.ts';
import { maxLifeMs, maxUnsentBytes, stalledMs } from '../../packages/server/src/channels/sse/event-stream.ts';
import { defaultStreamLimits } from '../../packages/server/src/channels/sse/event-streams.ts';
import { maxStreams } from '../../packages/server/src/realtime/open-stream.ts';
import { defaultMaxNames } from '../../packages/server/src/telemetry/metrics/start.ts';
import { maxPoints, maxRows } from '../../packages/server/src/telemetry/stats/range.ts';
import { maxSeries } from '../../packages/server/src/telemetry/stats/record.ts';
import { maxQueues } from '../../packages/server/src/telemetry/stats/sample.ts';
import { maxBranches } from '../../packages/server/src/tenancy/branches.ts';
import { defaultRetention } from '../../packages/server/src/app/retention.ts';
import * as tokens from '../../packages/server/src/waitpoints/create.ts';

if (loggerCharacters !== maxLineCharacters || consoleCharacters !== maxLineCharacters) {
  throw new Error('The SDK, the executor and the server cut log lines at different lengths.');
}

const number = (value: number): string => value.toLocaleString('en-US');

function bytes(value: number): string {
  const units = [
    ['MiB', 1_048_576],
    ['KiB', 1_024],
  ] as const;
  for (const [unit, size] of units) {
    if (value >= size && value % size === 0) return `${number(value / size)} ${unit}`;
  }
  return `${number(value)} bytes`;
}

function time(ms: number): string {
  const units = [
    ['day', 86_400_000],
    ['hour', 3_600_000],
    ['minute', 60_000],
    ['second', 1_000],
  ] as const;
  for (const [unit, size] of units) {
    if (ms >= size && ms % size === 0) return `${number(ms / size)} ${unit}${ms === size ? '' : 's'}`;
  }
  return `${number(ms)} ms`;
}

const rate = (limit: RateLimit | undefined): string =>
  limit === undefined ? 'none' : `${number(limit.burst)} at once, ${number(limit.perSecond)} a second`;

/** The limited quantity, the limit, the effect of exceeding it, and how to change it. */
type Row = readonly [what: string, limit: string, beyond: string, change: string];

const fixed = 'fixed';
const sections: readonly (readonly [title: string, rows: readonly Row[]])[] = [
  [
    'Triggering',
    [
      [
        'request body of a trigger',
        bytes(triggerBodyLimit),
        '413',
        'upload a large payload as a packet, as the SDK does',
      ],
      [
        'payload inside a trigger',
        `below ${bytes(packetThreshold)}`,
        'the SDK stores it as a packet first',
        fixed,
      ],
      [
        'packet (payload or output)',
        bytes(maxPacketBytes),
        '413 for a payload',
        'store the data elsewhere and send a reference',
      ],
      [
        'metadata of a run',
        bytes(maxMetadataBytes),
        '413 at a trigger; a `RangeError` if a run changes it',
        fixed,
      ],
      [
        'nesting levels of objects and lists in stored JSON',
        number(maxJsonLevels),
        '400; a value that is already stored is replaced with `{"$omitted": …}`',
        fixed,
      ],
      [
        'members of a parsed JSON value, such as a payload in a trigger, or the data of an event or a token. Each object member, object and list counts as one. Four items of a list, or 16 escapes in strings, also count as one',
        number(maxJsonMembers),
        '400; a value that is already stored is replaced with `{"$omitted": …}`',
        'use a packet',
      ],
      [
        'the same for requests with several payloads (`trigger-many`, `event-batches`); for requests with only declared members',
        `${number(4 * maxJsonMembers)}; ${number(defaultBodyMembers)}`,
        '400',
        'send several requests',
      ],
      ['segments of a metadata key (`$.a.b[0]`)', number(metadata.maxDepth), 'the change is rejected', fixed],
      ['index in a metadata list', number(metadata.maxIndex), 'the change is rejected', fixed],
      ['tags of a run', number(triggers.maxTags), '422', fixed],
      ['idempotency key', `${number(triggers.maxIdempotencyKeyLength)} characters`, '400', 'send a digest'],
      [
        'lifetime of an idempotency key',
        `${time(triggers.defaultIdempotencyMs)} by default`,
        'a new run',
        '`idempotencyKeyTTL`',
      ],
      [
        'default `ttl` of runs in the dev environment',
        `${time(triggers.devTtlSeconds * 1_000)} by default`,
        'EXPIRED',
        '`ttl`',
      ],
      [
        '`maxDuration`',
        `${number(triggers.minMaxDuration)} seconds or more`,
        'a shorter value in a trigger is raised to this',
        fixed,
      ],
      ['debounce delay', `${time(minDebounceMs)} or more`, '422', fixed],
      [
        'triggers in one request (a small `batchTrigger`, `trigger-many`)',
        `${number(oneShotBatchLimit)}, ${number(triggerManyLimit)}`,
        '400',
        'use a batch',
      ],
      [
        'payload and options of a trigger in a transaction',
        '3,000,000 bytes',
        'an error',
        'store the data elsewhere and send a reference',
      ],
      ['rows of an outbox in one delivery', number(outboxLimit), '400', 'use several deliveries'],
      ['runs of a batch', number(batchLimit), '400', 'use several batches'],
      ['item of a batch', bytes(batchItemLimit), 'rejected; the others are created', 'use a packet'],
      ['time to fill a batch', time(abandonedMs), 'the batch is aborted', fixed],
      [
        'children listed with a run',
        number(maxChildren),
        'only the first ones are listed',
        'read all of them in pages from the timeline',
      ],
      [
        'runs in a timeline response; attempts and waits of each run',
        `${number(500)}; ${number(maxShownAttempts)} and ${number(maxShownWaits)}`,
        'the last ones are returned, with `isCut` and `hasMoreChildren`',
        'pages of children; `runs.attempts`',
      ],
      ['count of runs', number(maxCounted), '`isExact` is false', fixed],
      ['latest runs in the statistics of a task', number(recentRuns), 'older runs are not included', fixed],
    ],
  ],
  [
    'Executing',
    [
      [
        'time for which code may block the event loop of a shared process',
        time(defaultLimits.blockedMs),
        'the process is killed. Its runs continue in separate processes. The run that blocks again is CRASHED: "The run blocked its event loop"',
        '`isolated: true` removes the limit',
      ],
      [
        'time to stop when canceled, or after `maxDuration`',
        time(defaultLimits.graceMs),
        'the process is killed',
        fixed,
      ],
      [
        'time for the other runs of such a process to finish',
        time(defaultLimits.vacateMs),
        'they start over in another process',
        fixed,
      ],
      [
        'import of one task file during discovery',
        time(importMs),
        'reported with the name of the file; tasks of other files are served',
        fixed,
      ],
      ['import of all task files by a process', time(startMs), 'the process is killed', fixed],
      [
        'processes of a run that die before it starts',
        number(startsAtMost),
        'the run starts in a separate process; CRASHED if that dies too',
        fixed,
      ],
      [
        'losses of a runner during a run (an orderly stop is not a loss)',
        `${number(maxRescues)} times`,
        'CRASHED at the next loss',
        fixed,
      ],
      [
        'time without a heartbeat after which a runner loses its runs',
        time(defaultLeaseTimes.leaseMs),
        'they are queued again',
        '`MILLRACE_LEASE_SECONDS`',
      ],
      ['a hook at the end of an attempt', time(hookLimitMs), 'abandoned and logged', fixed],
      [
        'output',
        bytes(outputLimit),
        'FAILED, `OutputTooLargeError`',
        'store the data elsewhere and return a reference',
      ],
      [
        'payloads of a run of a task with `batch`; how long it collects',
        `1 to ${number(maxBatchSize)}; 1 ms to ${time(maxBatchWaitMs)}`,
        'rejected, with the name of the field',
        'use several runs',
      ],
      [
        'these payloads together',
        bytes(maxCollectedBytes),
        'the run starts, and another run collects further payloads',
        'send references instead of data',
      ],
      [
        '[rate limit](rate-limits.md): starts; period',
        `1 to ${number(maxRateLimit)}, 1 second to ${time(maxRatePeriod * 1_000)}`,
        '400, or an error in the declaration',
        fixed,
      ],
      [
        '[shared concurrency limit](concurrency.md#shared-limits)',
        `0 to ${number(maxConcurrency)}`,
        '400, or an error in the declaration',
        fixed,
      ],
      [
        '[weight](fairness.md#turns) of a concurrency key; number of `keyWeights` in code',
        `1 to ${number(maxKeyWeight)}; ${number(maxKeyWeights)}`,
        '400, or an error in the declaration',
        'set further keys through the API',
      ],
      [
        '[steps](steps.md) of a run; length of a step name',
        `${number(maxSteps)}; ${number(maxStepName)} characters`,
        'the step fails, with the reason',
        'combine several in one step',
      ],
      [
        'result of a step',
        bytes(maxPacketBytes),
        'the run fails without another attempt',
        'store the data elsewhere and return a reference',
      ],
      [
        'steps of a run in a timeline',
        `the last ${number(maxStepsShown)}`,
        '`isCut`',
        '`GET …/steps` returns all',
      ],
      ['pause before a retry', time(maxPauseMs), 'longer pauses are shortened to this', fixed],
      [
        'suspended runs in one runner',
        number(maxSuspended),
        'the code of further runs is stopped, and starts over after the wait',
        'more runners',
      ],
      [
        'memory of an isolated run without `machine`',
        `counts as ${bytes(unnamedMachine * 1_048_576)}`,
        'further runs wait',
        '[machines](machines.md)',
      ],
      [
        'memory of a machine',
        `${bytes(machineMemory.micro * 1_048_576)} to ${bytes(machineMemory['large-2x'] * 1_048_576)}`,
        'CRASHED, out of memory',
        '[machines](machines.md)',
      ],
      ['builds kept in `.millrace`', number(builds), 'the oldest unused ones are deleted', fixed],
      ['frame between runner and server', bytes(maxFrameBytes), 'the connection is closed', fixed],
      [
        'message of a process to its runner',
        bytes(maxLineBytes),
        'the process is killed (Millrace itself sends no longer ones)',
        fixed,
      ],
      [
        'frame from a runner: nesting levels; members; log lines; spans',
        `${number(frameLimits.maxDepth)}; ${number(frameLimits.maxMembers)}; ${number(messageLimits.lines)}; ${number(messageLimits.spans)}`,
        'the connection is closed, with the reason',
        fixed,
      ],
    ],
  ],
  [
    'Logs and errors',
    [
      [
        'message of a log line; its properties as JSON',
        `${number(maxLineCharacters)} characters`,
        'cut, with the number of missing characters; the beginning of properties is in `cut`',
        fixed,
      ],
      [
        'unsent lines in a process with tasks; in a runner',
        `${bytes(executorLines)}; ${bytes(runnerLines)}`,
        'further lines are dropped, and replaced with a line that contains their number',
        fixed,
      ],
      [
        'data of a runner that the server has not processed',
        bytes(maxUndoneBytes),
        'the server stops reading until half of it is processed',
        fixed,
      ],
      [
        'spans of an attempt; of a run',
        `${number(spanLimits.perAttempt)}; ${number(spanLimits.perRun)}`,
        'further spans are dropped and counted',
        fixed,
      ],
      [
        'attributes of a span; its events',
        `${number(spanLimits.attributes)}; ${number(spanLimits.events)}`,
        'further ones are omitted and counted',
        fixed,
      ],
      [
        'text in an attribute of a span',
        `${number(spanLimits.text)} characters`,
        'cut, with the number of missing characters',
        fixed,
      ],
      ['nesting levels of spans', number(spanLimits.depth), 'deeper spans are shown at that level', fixed],
      [
        'lines by which a follower of all runs may lag',
        number(maxBehind),
        'it skips to the newest lines, with a gap',
        fixed,
      ],
      [
        'lines of `GET /api/v1/runs/{id}/events`',
        number(maxEvents),
        'the last line indicates that there are more',
        'use `GET /api/v1/runs/{id}/logs`, which has pages',
      ],
      [
        'name, message and stack of a thrown error',
        `${number(bounds.name)}, ${number(bounds.message)} and ${number(bounds.stack)} characters`,
        'cut, with a note',
        fixed,
      ],
      [
        'causes of a thrown error',
        `${number(maxCauses)}, ${number(maxLevels)} levels deep`,
        'omitted',
        fixed,
      ],
      ['error grouping rules of a project', number(maxErrorRules), '422', fixed],
      ['pattern of such a rule', `${number(maxPatternCharacters)} characters`, '400', fixed],
    ],
  ],
  [
    'Retention',
    [
      [
        'runs that have ended',
        `${time(defaultRetention.runsMs)} by default`,
        'deleted',
        '`PUT /api/v1/retention`, `retention` of a task',
      ],
      [
        'retention of a task',
        `${time(retentionLimits.min * 1_000)} to 68 years`,
        'the declaration is rejected',
        fixed,
      ],
      ['runs that one erasure can list', number(maxErasedRuns), '400', 'use several erasures, or a filter'],
      ['pending erasures of an environment', number(maxPendingErasures), '429', 'wait for one to end'],
      ['log lines and spans', time(defaultRetention.logsMs), 'deleted', fixed],
      ['daily totals of language models', time(modelRetentionDays * dayMs), 'deleted', fixed],
      [
        'error occurrences; hourly error counts',
        `${time(defaultRetention.occurrencesMs)}; ${time(defaultRetention.errorHoursMs)}`,
        'deleted; daily counts are kept',
        fixed,
      ],
      [
        'events; deliveries of webhooks; notifications',
        `${time(defaultRetention.eventsMs)}; ${time(defaultRetention.webhooksMs)}; ${time(defaultRetention.notificationsMs)}`,
        'deleted',
        fixed,
      ],
      [
        'sessions that have ended; records of streams',
        `${time(defaultRetention.sessionsMs)}; ${time(defaultRetention.recordsMs)}`,
        'deleted',
        fixed,
      ],
    ],
  ],
  [
    'Waits, schedules, events',
    [
      ['a token without `timeout`', time(tokens.defaultTimeoutMs), 'it times out', '`timeout`'],
      ['data of a completed token', bytes(dataLimit), '413', 'store the data elsewhere and send a reference'],
      ['delay of a schedule tick', time(lateMs), 'it is missed, and the `missed` rule applies', fixed],
      ['runs of one backfill', number(maxBackfilled), '422', 'use several backfills'],
      ['request body with events', bytes(eventBodyLimit), '413', fixed],
      ['request body to a webhook', bytes(webhookBodyLimit), '413', fixed],
      ['valid requests to one webhook', rate(defaultRateLimits.webhooks), '429 with `retry-after`', fixed],
      [
        'events of one request',
        number(maxEventsAtOnce),
        '400',
        'use several requests, as `events.sendBatch` does',
      ],
      ['segments of an event pattern', number(maxSegments), '400', fixed],
      [
        'filter of a subscription',
        `${number(filters.maxDepth)} levels, ${number(filters.maxConditions)} conditions, ${number(filters.maxChoices)} choices`,
        '400',
        fixed,
      ],
    ],
  ],
  [
    'Sessions and streams',
    [
      ['body of `POST /api/v1/sessions`', bytes(sessionBodyLimit), '413', fixed],
      ['body of an append', bytes(appendBodyLimit), '413', 'use several appends'],
      ['records of an append', number(maxRecordsAtOnce), '400', 'use several appends'],
      ['record', bytes(maxRecordBytes), '413', fixed],
      ['streams of a run', number(maxStreams), '422', fixed],
      [
        'lifetime of a streaming connection',
        time(maxLifeMs),
        'it is closed; clients reconnect without losing data',
        fixed,
      ],
      [
        'unsent data of a slow reader',
        `${bytes(maxUnsentBytes)}, or ${time(stalledMs)} without progress`,
        'its connection is closed',
        fixed,
      ],
      [
        'open streams of a server, an environment, a run or channel',
        `${number(defaultStreamLimits.process)}, ${number(defaultStreamLimits.environment)}, ${number(defaultStreamLimits.subject)}`,
        '429',
        'more servers',
      ],
    ],
  ],
  [
    'Access and requests',
    [
      ['request body of other operations', bytes(defaultBodyLimit), '413', fixed],
      ['request body without a credential', bytes(openBodyLimit), '413', fixed],
      [
        'requests without a credential from one address',
        rate(defaultRateLimits.openRequests),
        '429',
        '`MILLRACE_TRUSTED_PROXIES`, if the address is that of a proxy',
      ],
      [
        'request body that describes a deployment or a version, without its files',
        bytes(4 * 1_048_576),
        '413',
        fixed,
      ],
      [
        'requests of a secret key',
        rate(defaultRateLimits.secretKey),
        '429 with `retry-after`',
        '`MILLRACE_KEY_RATE`',
      ],
      [
        'requests in progress: units of a server, of an environment',
        `${defaultAdmissionLimits.capacity}, ${defaultAdmissionLimits.share}`,
        'further ones wait ([overload](overload.md))',
        'more servers',
      ],
      [
        'time for which a request waits',
        `${defaultAdmissionLimits.maxWaitMs / 1_000} seconds`,
        '503 with `retry-after`',
        '`MILLRACE_MAX_QUEUE_SECONDS`',
      ],
      [
        'requests that wait',
        number(defaultAdmissionLimits.maxWaiting),
        '503 with `retry-after`',
        'more servers',
      ],
      ['requests of a personal access token', rate(defaultRateLimits.personalAccessToken), '429', fixed],
      ['requests of a public token', rate(defaultRateLimits.publicToken), '429', fixed],
      ['requests of a browser session', rate(defaultRateLimits.browser), '429', fixed],
      ['browser logins from one address', rate(defaultRateLimits.browsers?.logins), '429', fixed],
      ['passwords for one user from one address', rate(defaultRateLimits.browsers?.passwords), '429', fixed],
      ['passwords for one user', rate(defaultRateLimits.browsers?.userPasswords), '429', fixed],
      ['passwords from one address', rate(defaultRateLimits.browsers?.addressPasswords), '429', fixed],
      ['one-time links created by a user', rate(defaultRateLimits.browsers?.links), '429', fixed],
      ['length of a password', `${passwordLength.min} to ${passwordLength.max}`, '400', fixed],
      ['idle time after which a browser session ends', `${idleHours} hours`, '401', fixed],
      ['lifetime of a browser session', `${maxSessionDays} days`, '401', fixed],
      [
        'wrong credentials from one address',
        rate(defaultRateLimits.badCredentials),
        '429',
        '`MILLRACE_TRUSTED_PROXIES`, if the address is that of a proxy',
      ],
      ['runs in batches by public tokens', rate(defaultRateLimits.batchRuns?.publicToken), '429', fixed],
      [
        'time for which a repeated request gets the same response',
        time(retentionMs),
        'it is executed again',
        fixed,
      ],
      [
        'lifetime of a public token; of one created by a run',
        `${time(maxLifetime.seconds * 1_000)}; ${time(maxLifetimeByRun.seconds * 1_000)}`,
        '400',
        fixed,
      ],
      ['tasks of a restricted key', number(maxKeyTasks), '422', fixed],
      ['branches of preview; of dev', number(maxBranches), '400', 'archive some'],
      [
        'organizations that a user owns',
        number(defaultTenancyLimits.organizations),
        '422',
        '`MILLRACE_MAX_ORGANIZATIONS`',
      ],
      [
        'projects of an organization',
        number(defaultTenancyLimits.projects),
        '422',
        '`MILLRACE_MAX_PROJECTS`',
      ],
      ['variables of an environment', number(maxVariables), 'rejected', fixed],
      [
        'name of a variable; its value',
        `${number(maxVariableName)} characters; ${number(maxVariableValue)} bytes`,
        '400',
        fixed,
      ],
      ['all variables of an environment', `${number(maxTogether)} bytes`, 'rejected', fixed],
      ['import of variables', bytes(importLimit), '413', 'use several imports'],
      [
        'files and layers of a deployment, compressed',
        bytes(defaultMaxBundleBytes),
        '413',
        '`MILLRACE_MAX_BUNDLE`',
      ],
      ['JSON Schema of a task', bytes(maxPayloadSchemaBytes), 'omitted, with the reason', fixed],
      ['all JSON Schemas of a version', bytes(maxPayloadSchemasBytes), 'the others are omitted', fixed],
      ['uploaded versions of an environment', `the newest ${number(retainedVersions)}`, 'archived', fixed],
      [
        'uncompressed source map for reading source lines',
        bytes(maxMapBytes),
        'it is not read, and the response contains the reason',
        fixed,
      ],
      ['source lines before and after a location', number(linesAround), '–', fixed],
      ['time to continue an upload of a deployment', time(uploadMs), 'the upload is aborted', fixed],
      [
        'time for which one call moves runs to another version',
        time(moveMs),
        '`isComplete` is false',
        'repeat the call',
      ],
      ['points of all time series in a response', number(maxPoints), '400', 'a wider step'],
      ['roll-ups read by a request for time series', number(maxRows), '400', 'a wider step'],
      [
        'tasks with their own metrics; queues',
        number(defaultMaxNames),
        'the others share `other`',
        '`MILLRACE_METRICS_MAX_NAMES`',
      ],
      ['queues in a sample', number(maxQueues), 'the others are counted together', fixed],
      ['series counted in a minute', number(maxSeries), 'counted for their environment only', fixed],
      ['runs of a bulk action by id', number(maxBulkRuns), '400', 'a filter'],
      ['active bulk actions of an environment', number(maxPending), '429', 'wait until one has finished'],
      ['declared paths of an environment', number(maxRunPaths), '422', 'remove one'],
      ['error groups found by a text filter for a list of runs', number(maxSaying), '400', 'a longer text'],
      ['alerts of an environment', number(maxAlerts), '422', fixed],
      ['saved charts of an environment', number(maxCharts), '422', fixed],
      ['prices of language models of a project', number(maxModelPrices), '422', fixed],
      [
        'subjects of an alert, such as queues',
        `the worst ${number(maxSubjects)}`,
        'the others are not listed',
        fixed,
      ],
      ['notification endpoints', number(maxEndpoints), '422', fixed],
      ['response time of a notification endpoint', time(deliveries.timeoutMs), 'retried', fixed],
      [
        'time for which a notification endpoint accepts nothing',
        time(deliveries.patienceMs),
        'it is disabled',
        'enable it again',
      ],
      [
        'output of a `millrace mcp` tool',
        `${number(maxCharacters)} characters`,
        'cut, with a note',
        'narrow the query',
      ],
      [
        'duration of `watch_run` in `millrace mcp`',
        `${maxWatchSeconds} seconds`,
        '`isOver` is false',
        'call it again',
      ],
      ['PostgreSQL', `${oldestMajor} or later`, 'the server does not start', 'upgrade PostgreSQL'],
    ],
  ],
];

const section = ([title, rows]: (typeof sections)[number]): string =>
  `## ${title}

| Item | Limit | If exceeded | How to change it |
|---|---|---|---|
${rows.map((row) => `| ${row.join(' | ')} |`).join('\n')}
`;

/** docs/limits.md, from the constants of the code. `npx vitest run test/limits -u` writes it. */
export const limitsPage = (): string => `# Limits

<!-- Generated from constants in the code by test/limits/page.ts. To change this page, change a constant. -->

Each limit is listed with the effect of exceeding it, and the way to change it. Error messages contain the exceeded limit.
[Concurrency limits](concurrency.md) and [rate limits](rate-limits.md) are settings of your queues, and are not listed here.

${sections.map(section).join('\n')}`;
