import type { RunReasonReply, RateLimitResponse } from '@millrace/contract';
import { isFinal } from '@millrace/contract';
import type { StartConditions } from './start-conditions.ts';
import { whyNoRunner } from './no-runner.ts';

type RunReason = Omit<RunReasonReply, 'id' | 'status'>;

/**
 * Why a run is not executing. Causes are checked in the order in which they must be removed, so removing the reported cause either starts
 * the run or reveals the next one. `nearest` is a task of the current version that may have been meant if no version has the run's task.
 */
export function reasonOf(conditions: StartConditions, nearest?: string): RunReason {
  const { status, queue, key } = conditions;
  const where = { queue, ...(key !== '' && { concurrencyKey: key }) };
  if (isFinal(status)) return { reason: 'not_waiting', message: `It has ended: ${status}.` };
  if (status === 'WAITING') return waitReason(conditions.waits);
  if (conditions.installationPaused && (status !== 'EXECUTING' || conditions.due)) {
    return {
      reason: 'installation_paused',
      message: 'Millrace was started with --paused: no run starts until `millrace resume`.',
    };
  }
  if (conditions.openBatch !== null) {
    return {
      reason: 'batch_open',
      message: `Its batch ${conditions.openBatch} is still receiving items; all of its runs start together.`,
    };
  }
  if (conditions.predecessor !== null) {
    return {
      reason: 'singleton',
      message: `It is waiting for the end of the run ${conditions.predecessor}, which has the same singleton key. Cancel that run to start this one now.`,
      waitsFor: conditions.predecessor,
    };
  }
  if (conditions.due) {
    const until = conditions.due.toISOString();
    if (conditions.collected !== null) {
      const payloads = conditions.collected === 1 ? '1 payload' : `${conditions.collected} payloads`;
      return {
        reason: 'collecting',
        message: `It collects trigger payloads until ${until}, or until its batch is full. It has ${payloads}.`,
        until,
      };
    }
    if (status === 'DELAYED' && conditions.debounceKey !== null) {
      return {
        reason: 'debounce',
        message: `It is due at ${until}, or later if more triggers with its debounce key arrive.`,
        until,
      };
    }
    return status === 'DELAYED'
      ? { reason: 'delay', message: `It is delayed until ${until}.`, until }
      : {
          reason: 'retry_pause',
          message: `Its last attempt failed; the next one is due at ${until}.`,
          until,
        };
  }
  if (status === 'EXECUTING') return { reason: 'not_waiting', message: 'It is running.' };
  if (status === 'PENDING_VERSION' && conditions.externalId !== null) {
    return {
      reason: 'no_version',
      message:
        conditions.externalVersion === null
          ? `It is waiting for the deployment "${conditions.externalId}" (externalDeploymentId), which does not exist yet. Run \`millrace deploy\` with this id.`
          : `It is waiting for the deployment "${conditions.externalId}" (externalDeploymentId), which is version ${conditions.externalVersion} and has no task "${conditions.task}". Deploy code with this task and this id.`,
    };
  }
  if (status === 'PENDING_VERSION') {
    const meant = nearest === undefined ? '' : ` Did you mean "${nearest}"?`;
    return {
      reason: 'no_version',
      message:
        conditions.version === null
          ? 'No version is current in this environment: start `millrace dev`, or deploy with `millrace deploy`.'
          : `The current version ${conditions.version} has no task "${conditions.task}": export it in a file of \`millrace dev\`, or deploy a version that has it.${meant}`,
      ...(nearest !== undefined && { nearestTask: nearest }),
    };
  }
  if (conditions.environmentPaused) {
    return { reason: 'environment_paused', message: 'The environment is paused: resume it.', ...where };
  }
  if (conditions.queuePaused) {
    return { reason: 'queue_paused', message: `The queue "${queue}" is paused: resume it.`, ...where };
  }
  const noRunner = whyNoRunner(conditions);
  if (noRunner !== undefined) {
    return {
      reason: 'no_runner',
      message: noRunner,
      ...(conditions.version !== null && { version: conditions.version }),
    };
  }
  const { environmentLimit, environmentRunning, limit, running } = conditions;
  if (environmentLimit !== null && environmentRunning >= environmentLimit) {
    return {
      reason: 'environment_at_limit',
      message: `The environment is at its concurrency limit: ${environmentRunning} running, at most ${environmentLimit}.`,
      running: environmentRunning,
      limit: environmentLimit,
    };
  }
  if (limit !== null && running >= limit) {
    return {
      reason: key === '' ? 'queue_at_limit' : 'key_at_limit',
      message:
        key === ''
          ? `The queue "${queue}" is at its concurrency limit: ${running} running, at most ${limit}.`
          : `The queue "${queue}" is at its concurrency limit for the key "${key}": ${running} running, at most ${limit} per key.`,
      ...where,
      running,
      limit,
    };
  }
  const { shared } = conditions;
  if (shared && shared.running >= shared.limit) {
    return {
      reason: 'shared_limit',
      message: `The shared limit "${shared.name}" of the queue "${queue}" has been reached: ${shared.running} running, at most ${shared.limit}.`,
      ...where,
      running: shared.running,
      limit: shared.limit,
    };
  }
  const { rate, rateUntil } = conditions;
  if (rate && rateUntil) {
    const until = rateUntil.toISOString();
    return {
      reason: 'rate_limited',
      message:
        `The queue "${queue}" may start ${rateText(rate)}${rate.key && key !== '' ? ` with the key "${key}"` : ''}. ` +
        `This run may start at ${until}${rate.key ? '' : ', unless runs with other keys start before it'}.`,
      until,
      ...where,
      limit: rate.limit,
      ahead: conditions.ahead,
    };
  }
  return {
    reason: 'waiting_its_turn',
    message:
      conditions.ahead === 0
        ? 'It is next in its queue: it starts as soon as a runner has a free slot.'
        : `Runs ahead of it in its queue: ${conditions.ahead === 1_000 ? '1,000 or more' : conditions.ahead}. Nothing else blocks it.`,
    ...where,
    ahead: conditions.ahead,
  };
}

/** Such as `100 runs in 60 seconds, at most 10 at once`. */
function rateText({ limit, period, burst }: RateLimitResponse): string {
  const runs = limit === 1 ? '1 run' : `${limit} runs`;
  const time = period === 1 ? '1 second' : `${period} seconds`;
  return `${runs} in ${time}${burst < limit ? `, at most ${burst} at once` : ''}`;
}

/** The first of its waits is the reported one; the others are mentioned. */
function waitReason(waits: StartConditions['waits']): RunReason {
  const [first] = waits;
  const others = waits.length > 1 ? ` It has ${waits.length - 1} more waits.` : '';
  switch (first?.kind) {
    case 'RUN':
      return {
        reason: 'waiting_on_run',
        message: `It is waiting for the run ${first.target} to end.${others}`,
        waitsFor: first.target ?? undefined,
      };
    case 'BATCH':
      return {
        reason: 'waiting_on_batch',
        message: `It is waiting for all runs of the batch ${first.target} to end.${others}`,
        waitsFor: first.target ?? undefined,
      };
    case 'TOKEN':
      return {
        reason: 'waiting_on_token',
        message: `It is waiting for the token ${first.target} to be completed.${others}`,
        waitsFor: first.target ?? undefined,
      };
    case 'MESSAGE':
      return {
        reason: 'waiting_on_message',
        message: `It is waiting for a message to the session ${first.target}.${others}`,
        waitsFor: first.target ?? undefined,
      };
    default: {
      const until = first?.until ? new Date(first.until).toISOString() : undefined;
      return {
        reason: 'waiting_on_time',
        message: until === undefined ? 'It is waiting.' : `It is waiting until ${until}.${others}`,
        until,
      };
    }
  }
}
