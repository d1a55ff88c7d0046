import { z } from 'zod';
import type { Run } from '@millrace/contract';
import { isFinal, runStatuses } from '@millrace/contract/plain';
import { ServerRefused } from '../api/errors.ts';
import type { EnvironmentClient } from '../api/environment-client.ts';

/** A waiting run, in the form of a trigger that creates it again. */
export const waitingRun = z.object({
  id: z.string().min(1).max(128),
  task: z.string().min(1).max(128),
  /** A JSON value, or text with another type. */
  payload: z.unknown().optional(),
  payloadType: z.string().optional(),
  queue: z.string(),
  tags: z.array(z.string()).optional(),
  metadata: z.record(z.string(), z.unknown()).optional(),
  delayedUntil: z.iso.datetime().optional(),
  ttl: z.string().optional(),
  idempotencyKey: z.string().optional(),
  idempotencyKeyOptions: z
    .object({ key: z.string(), scope: z.enum(['run', 'attempt', 'global']) })
    .optional(),
  concurrencyKey: z.string().optional(),
  priority: z.number().optional(),
  machine: z.string().optional(),
  maxAttempts: z.int().min(1).optional(),
  maxDuration: z.int().min(1).optional(),
  singleton: z.object({ key: z.string().optional() }).optional(),
  region: z.string().optional(),
  description: z.string().optional(),
  isTest: z.boolean().optional(),
  createdAt: z.iso.datetime(),
});
export type WaitingRun = z.infer<typeof waitingRun>;

const waiting = ['QUEUED', 'DELAYED', 'PENDING_VERSION'] as const;
const live = runStatuses.filter((status) => !isFinal(status));
const finished = runStatuses.filter((status) => isFinal(status));

/** The reason why a live run is not exported. */
export type NotExported = 'executing' | 'waited for' | 'collected';

/** Ids of runs with some statuses, page by page, newest first. */
async function* pagesOf(
  client: EnvironmentClient,
  statuses: readonly string[],
  period?: string,
): AsyncGenerator<readonly string[]> {
  let after: string | undefined;
  do {
    const { data, pagination } = await client.call('listRuns', {
      query: {
        'filter[status]': statuses.join(','),
        ...(period === undefined
          ? { 'filter[createdAt][from]': '0' }
          : { 'filter[createdAt][period]': period }),
        'page[size]': '100',
        ...(after !== undefined && { 'page[after]': after }),
      },
    });
    yield data.map(({ id }) => id);
    after = pagination.next;
  } while (after !== undefined);
}

/** Retrieves runs, a few at a time, in order. A run deleted in the meantime is skipped. */
async function* retrieved(client: EnvironmentClient, ids: readonly string[]): AsyncGenerator<Run> {
  const atOnce = 8;
  for (let from = 0; from < ids.length; from += atOnce)
    for (const run of await Promise.all(ids.slice(from, from + atOnce).map((id) => retrieve(client, id))))
      if (run) yield run;
}

function retrieve(client: EnvironmentClient, runId: string): Promise<Run | undefined> {
  return client
    .call('retrieveRun', { params: { runId }, query: { trigger: 'true' } })
    .catch((error: unknown) => {
      if (error instanceof ServerRefused && error.status === 404) return undefined;
      throw error;
    });
}

/**
 * Runs that have not started, oldest first, and the reasons why other live runs are skipped. Only their ids are all in memory, because pages
 * have the newest first.
 */
export async function* waitingRuns(
  client: EnvironmentClient,
  leaveOut: (why: NotExported) => void,
): AsyncGenerator<WaitingRun> {
  const ids: string[] = [];
  for await (const page of pagesOf(client, live)) ids.push(...page);
  for await (const run of retrieved(client, ids.toReversed())) {
    if (isFinal(run.status)) continue;
    // A run that has started would repeat its work, and a run that another one waits for would not wake it.
    if (
      !(waiting as readonly string[]).includes(run.status) ||
      run.startedAt !== undefined ||
      run.attemptCount > 0
    )
      leaveOut('executing');
    else if (run.triggerFunction.endsWith('AndWait')) leaveOut('waited for');
    // Its payload combines those of several triggers, but a single trigger adds only one.
    else if (run.trigger?.batchKey !== undefined) leaveOut('collected');
    else yield recordOf(run, await payloadOf(client, run));
  }
}

/** Finished runs with payload and output, newest first, one page in memory. */
export async function* finishedRuns(client: EnvironmentClient, period?: string): AsyncGenerator<object> {
  for await (const page of pagesOf(client, finished, period))
    for await (const run of retrieved(client, page)) {
      const { payloadPresignedUrl, outputPresignedUrl, relatedRuns, trigger: _, ...rest } = run;
      const payload =
        payloadPresignedUrl === undefined ? run.payload : await valueAt(client, payloadPresignedUrl);
      const output =
        outputPresignedUrl === undefined ? run.output : await valueAt(client, outputPresignedUrl);
      yield {
        ...rest,
        ...(payload !== undefined && { payload }),
        ...(output !== undefined && { output }),
        ...(relatedRuns.parent && { parent: relatedRuns.parent.id }),
      };
    }
}

async function valueAt(client: EnvironmentClient, url: string): Promise<unknown> {
  const { text, type } = await client.content(url);
  if (type === 'application/json') return JSON.parse(text) as unknown;
  return type === 'application/super+json' ? (JSON.parse(text) as { json?: unknown }).json : text;
}

async function payloadOf(
  client: EnvironmentClient,
  { payload, payloadPresignedUrl, trigger = {} }: Run,
): Promise<Pick<WaitingRun, 'payload' | 'payloadType'>> {
  if (payloadPresignedUrl !== undefined) {
    const { text, type } = await client.content(payloadPresignedUrl);
    return type === 'application/json'
      ? { payload: JSON.parse(text) as unknown }
      : { payload: text, payloadType: type };
  }
  const { payloadType, payloadText = payload } = trigger;
  return {
    ...(payload !== undefined && { payload: payloadText }),
    ...(payloadType !== undefined && { payloadType }),
  };
}

function recordOf(run: Run, payload: Pick<WaitingRun, 'payload' | 'payloadType'>): WaitingRun {
  const { payloadType: _, payloadText: __, idempotencyKeyOptions, ...options } = run.trigger ?? {};
  return {
    id: run.id,
    task: run.taskIdentifier,
    ...payload,
    queue: run.queue,
    ...(run.tags.length > 0 && { tags: run.tags }),
    ...(run.metadata && { metadata: run.metadata }),
    ...(run.delayedUntil !== undefined && { delayedUntil: run.delayedUntil }),
    ...(run.ttl !== undefined && { ttl: run.ttl }),
    ...options,
    ...(idempotencyKeyOptions && {
      idempotencyKeyOptions: idempotencyKeyOptions as WaitingRun['idempotencyKeyOptions'],
    }),
    ...(run.region !== undefined && { region: run.region }),
    ...(run.description !== undefined && { description: run.description }),
    ...(run.isTest && { isTest: true }),
    createdAt: run.createdAt,
  };
}
