import { z } from 'zod';
import { operation } from '../operation.ts';
import { runStatuses } from '../status.ts';
import { runId } from './runs.ts';
import { date } from './shapes.ts';

/** Why a run does not execute, or that it does. Of several causes the first that holds is told, in this order. */
export const runReasons = [
  /** It is over, or executes: it does not wait for anything. */
  'not_waiting',
  /** Its delay is not over. */
  'delay',
  /** Later triggers with its debounce key may still push it. */
  'debounce',
  /** It collects the payloads of further triggers, until it has enough or its time has come. */
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
  /** Its code waits for a token that somebody completes. */
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
  /** Its concurrency key has as many runs as the queue allows each. */
  'key_at_limit',
  /** As many runs of its queue, or of its key, have started as the limit of rate allows. */
  /** As many runs of the queues that share a limit execute as it allows. */
  'shared_limit',
  'rate_limited',
  /** Nothing holds it: runners are busy, or others are ahead of it. */
  'waiting_its_turn',
] as const;
export type RunReason = (typeof runReasons)[number];

export const runReason = z.object({
  id: z.string(),
  status: z.enum(runStatuses),
  reason: z.enum(runReasons),
  /** A sentence for people. */
  message: z.string(),
  /**
   * When a delay, the pause before a retry or a wait for a time is over. With `rate_limited`: when the limit lets it start, unless others of
   * its queue go before it.
   */
  until: date.optional(),
  /** Id of the run, batch or token that its code waits for. With `singleton`: the run that must end first. */
  waitsFor: z.string().optional(),
  /** With `no_version`: the task of the current version whose id is nearest, when one is near and the caller may know of it. */
  nearestTask: z.string().optional(),
  queue: z.string().optional(),
  concurrencyKey: z.string().optional(),
  /** The version that it needs; without one, whichever is current. */
  version: z.string().optional(),
  /** Of what is at its limit. */
  running: z.number().int().optional(),
  limit: z.number().int().optional(),
  /** Runs ahead of it in its lane; at most 1,000 are counted. */
  ahead: z.number().int().optional(),
});
export type RunReasonReply = z.infer<typeof runReason>;

export const retrieveRunReason = operation({
  id: 'retrieveRunReason',
  method: 'GET',
  path: '/api/v1/runs/:runId/reason',
  tag: 'runs',
  summary: 'Why a run is not running',
  access: { secretKey: true, publicToken: true, action: 'read', on: 'runs', objects: true },
  params: runId,
  reply: runReason,
  errors: [404],
});
