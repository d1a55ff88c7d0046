import type { RunReasonReply } from '@millrace/contract';
import { isFinal } from '@millrace/contract';
import type { WaitFacts } from './facts.ts';

type Told = Omit<RunReasonReply, 'id' | 'status'>;

/**
 * Why a run does not run. Causes are looked at in the order in which they must go away: whoever removes the one that is told
 * starts the run, or is told the next.
 */
export function reasonOf(facts: WaitFacts): Told {
  const { status, queue, key } = facts;
  const place = { queue, ...(key !== '' && { concurrencyKey: key }) };
  if (isFinal(status)) return { reason: 'not_waiting', message: `It is over: ${status}.` };
  if (facts.due) {
    const until = facts.due.toISOString();
    return status === 'DELAYED'
      ? { reason: 'delay', message: `It is delayed until ${until}.`, until }
      : {
          reason: 'retry_pause',
          message: `Its last attempt failed; the next one is due at ${until}.`,
          until,
        };
  }
  if (status === 'EXECUTING') return { reason: 'not_waiting', message: 'It is running.' };
  if (status === 'PENDING_VERSION') {
    return {
      reason: 'no_version',
      message:
        facts.version === null
          ? 'No version was registered in this environment: start `millrace dev` or `millrace work`, or deploy.'
          : `The current version ${facts.version} has no task "${facts.task}": register a version that has it.`,
    };
  }
  if (facts.environmentPaused) {
    return { reason: 'environment_paused', message: 'The environment is paused: resume it.', ...place };
  }
  if (facts.queuePaused) {
    return { reason: 'queue_paused', message: `The queue "${queue}" is paused: resume it.`, ...place };
  }
  if (!facts.hasRunner) {
    const which = facts.bound
      ? `version ${facts.version}, to which it is bound`
      : `the current version ${facts.version}`;
    return {
      reason: 'no_runner',
      message: `No connected runner has ${which}: start one with \`millrace work\`.`,
      ...(facts.version !== null && { version: facts.version }),
    };
  }
  const { environmentLimit, environmentRunning, limit, running } = facts;
  if (environmentLimit !== null && environmentRunning >= environmentLimit) {
    return {
      reason: 'environment_at_limit',
      message: `The environment runs ${environmentRunning} runs at once and may run ${environmentLimit}.`,
      running: environmentRunning,
      limit: environmentLimit,
    };
  }
  if (limit !== null && running >= limit) {
    return {
      reason: key === '' ? 'queue_at_limit' : 'key_at_limit',
      message:
        key === ''
          ? `The queue "${queue}" runs ${running} runs at once and may run ${limit}.`
          : `The queue "${queue}" runs ${running} runs of the key "${key}" at once and may run ${limit} of each.`,
      ...place,
      running,
      limit,
    };
  }
  return {
    reason: 'waiting_its_turn',
    message:
      facts.ahead === 0
        ? 'It is the next of its queue: a runner takes it as soon as it has a free slot.'
        : `${facts.ahead === 1_000 ? '1,000 or more' : facts.ahead} of its queue are ahead of it; nothing else holds it.`,
    ...place,
    ahead: facts.ahead,
  };
}
