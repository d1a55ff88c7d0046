import { z } from 'zod';
import { operation } from '../operation.ts';
import { runStatuses } from '../status.ts';
import { runId } from './runs.ts';
import { date } from './shapes.ts';

/** The reasons why a run does not execute. If several apply, the first in this order is reported. */
export const runReasons = [
  /** It has ended or is executing, so it is not waiting for anything. */
  'not_waiting',
  /** Its delay has not elapsed. */
  'delay',
  /** Later triggers with its debounce key may still postpone it. */
  'debounce',
  /** It collects the payloads of further triggers until its batch is full or its time has elapsed. */
  'collecting',
  /** Another run with its singleton key has not ended. */
  'singleton',
  /** Its batch still waits for items. */
  'batch_open',
  /** Its last attempt failed; the next one is due later. */
  'retry_pause',
  /** Its code waits for a run that it triggered. */
  'waiting_on_run',
  /** Its code waits for all runs of a batch. */
  'waiting_on_batch',
  /** Its code waits for the completion of a token. */
  'waiting_on_token',
  /** Its code waits for a message to a session. */
  'waiting_on_message',
  /** Its code waits for a time. */
  'waiting_on_time',
  /** No version of the environment has its task. */
  'no_version',
  /** `millrace start --paused`, until `millrace resume`. */
  'installation_paused',
  'environment_paused',
  'queue_paused',
  /** No connected runner has the version that it needs. */
  'no_runner',
  'environment_at_limit',
  'queue_at_limit',
  /** Its concurrency key has reached the queue's limit per key. */
  'key_at_limit',
  /** The rate limit of its queue, or of its key, has been reached. */
  /** The queues that share a limit have reached it. */
  'shared_limit',
  'rate_limited',
  /** It is not blocked: runners are busy, or other runs are ahead of it. */
  'waiting_its_turn',
] as const;
export type RunReason = (typeof runReasons)[number];

export const runReason = z.object({
  id: z.string(),
  status: z.enum(runStatuses),
  reason: z.enum(runReasons),
  /** A human-readable sentence. */
  message: z.string(),
  /**
   * When a delay, the pause before a retry or a wait for a time ends. With `rate_limited`: when the limit allows its start, unless other runs
   * of its queue are ahead of it.
   */
  until: date.optional(),
  /** Id of the run, batch or token for which its code waits. With `singleton`: the run that must end first. */
  waitsFor: z.string().optional(),
  /** With `no_version`: the most similar task id in the current version, if one is similar enough and the caller may see it. */
  nearestTask: z.string().optional(),
  queue: z.string().optional(),
  concurrencyKey: z.string().optional(),
  /** The required version; if omitted, the current one. */
  version: z.string().optional(),
  /** Number of executing runs under the limit that was reached. */
  running: z.number().int().optional(),
  limit: z.number().int().optional(),
  /** Number of runs ahead of it in its lane, counted up to 1,000. */
  ahead: z.number().int().optional(),
});
export type RunReasonReply = z.infer<typeof runReason>;

export const retrieveRunReason = operation({
  id: 'retrieveRunReason',
  method: 'GET',
  path: '/api/v1/runs/:runId/reason',
  tag: 'runs',
  summary: 'Retrieve the reason why a run is not running',
  access: { secretKey: true, publicToken: true, action: 'read', on: 'runs', objects: true },
  params: runId,
  reply: runReason,
  errors: [404],
});
