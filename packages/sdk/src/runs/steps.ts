import type { Operations, Reply } from '@millrace/contract';
import { currentClient } from '../client/current-client.ts';
import { pages, type PageList } from '../client/page.ts';
import { codecOf, type Codec } from '../sealing/codec.ts';
import { openShownError } from '../sealing/errors.ts';
import { openDeep } from '../sealing/values.ts';
import { runId, type RunReference } from './run.ts';

type WireStep = Reply<Operations['listRunSteps']>['data'][number];

/** A stored step of a run. Times are from the server's clock. Secrets are redacted. */
export type RunStep = Omit<WireStep, 'startedAt' | 'endedAt'> & {
  readonly startedAt: Date;
  readonly endedAt: Date;
};

const fromWire = ({ startedAt, endedAt, ...step }: WireStep): RunStep => ({
  ...step,
  startedAt: new Date(startedAt),
  endedAt: new Date(endedAt),
});

const openStep = async (codec: Codec, { output, error, ...step }: RunStep): Promise<RunStep> => ({
  ...step,
  ...(output !== undefined && { output: await openDeep(codec, output) }),
  ...(error && { error: await openShownError(codec, error, undefined) }),
});

/** Paging for steps. */
export interface StepsOptions {
  /** Steps per page: 1 to 100. Default 100. */
  limit?: number;
}

/**
 * The stored steps of a run, in the order in which they ended. Await the result for the first page, or iterate over it for all. Throws a
 * NotFoundError for an unknown run.
 *
 * @example
 * for await (const { name, status, output } of runs.steps('run_…')) console.log(name, status, output);
 */
export function steps(run: RunReference, { limit }: StepsOptions = {}): PageList<RunStep> {
  const client = currentClient();
  const params = { runId: runId(run) };
  return pages(async ({ after }) => {
    const { data, pagination } = await client.call('listRunSteps', {
      params,
      query: { 'page[after]': after, 'page[size]': limit },
    });
    const codec = codecOf(client);
    const converted = data.map(fromWire);
    return {
      data: codec ? await Promise.all(converted.map((step) => openStep(codec, step))) : converted,
      pagination,
    };
  }, {});
}
