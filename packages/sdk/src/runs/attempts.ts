import type { Operations, Reply } from '@millrace/contract';
import { currentClient } from '../client/current-client.ts';
import { pages, type PageList } from '../client/page.ts';
import { codecOf, type Codec } from '../sealing/codec.ts';
import { openError } from '../sealing/errors.ts';
import { runId, type RunReference } from './run.ts';

type WireAttempt = Reply<Operations['listRunAttempts']>['data'][number];
type WireWaitedFor = WireAttempt['waitedFor'][number];

/** Something that a run waited for before an attempt. */
export type RunWaitedFor = Omit<WireWaitedFor, 'from' | 'until'> & {
  readonly from: Date;
  readonly until: Date;
};

/** An attempt of a run. Times are from the server's clock; `durationMs` excludes waits. */
export type RunAttempt = Omit<WireAttempt, 'waitedFor' | 'startedAt' | 'endedAt' | 'retryAt'> & {
  readonly waitedFor: readonly RunWaitedFor[];
  readonly startedAt: Date;
  readonly endedAt?: Date | undefined;
  readonly retryAt?: Date | undefined;
};

const fromWire = ({ waitedFor, startedAt, endedAt, retryAt, ...attempt }: WireAttempt): RunAttempt => ({
  ...attempt,
  waitedFor: waitedFor.map(({ kind, from, until }) => ({
    kind,
    from: new Date(from),
    until: new Date(until),
  })),
  startedAt: new Date(startedAt),
  ...(endedAt !== undefined && { endedAt: new Date(endedAt) }),
  ...(retryAt !== undefined && { retryAt: new Date(retryAt) }),
});

async function openAttempt(codec: Codec, attempt: RunAttempt, run: string): Promise<RunAttempt> {
  if (!attempt.error) return attempt;
  const { message, name, stackTrace, group } = await openError(codec, attempt.error, `error ${run}`);
  return { ...attempt, error: { message, name, stackTrace, ...(group !== undefined && { group }) } };
}

/** Paging for attempts. */
export interface AttemptsOptions {
  /** Attempts per page: 1 to 100. Default 100. */
  limit?: number;
}

/**
 * The attempts of a run, oldest first: the runner, duration, waits and error of each. Await the result for the first page,
 * or iterate over it for all. Throws a NotFoundError for an unknown run.
 *
 * An attempt that did not count (`LOST`, `RETURNED`, `DETACHED`) is followed by another with the same number.
 *
 * @example
 * for await (const { number, status, error } of runs.attempts('run_…')) console.log(number, status, error?.message);
 */
export function attempts(run: RunReference, { limit }: AttemptsOptions = {}): PageList<RunAttempt> {
  const client = currentClient();
  const params = { runId: runId(run) };
  return pages(async ({ after }) => {
    const { data, pagination } = await client.call('listRunAttempts', {
      params,
      query: { 'page[after]': after, 'page[size]': limit },
    });
    const codec = codecOf(client);
    const converted = data.map(fromWire);
    return {
      data: codec
        ? await Promise.all(converted.map((attempt) => openAttempt(codec, attempt, params.runId)))
        : converted,
      pagination,
    };
  }, {});
}
