import type { RunFilterQuery } from '@millrace/contract/filter';
import type { Given } from '../../api/operation-types.ts';

type BulkFilter = NonNullable<Given<'createBulkAction'>['body']['filter']>;

const list = (text: string | undefined): string[] | undefined => text?.split(',');

/**
 * The filter of a bulk action that finds the same runs as a list does. Undefined if there is none: a bulk action cannot search for words of an error,
 * nor for values of metadata and payloads.
 */
export function bulkFilterOf(query: RunFilterQuery): BulkFilter | undefined {
  if (query['filter[errorText]'] || query['filter[metadata]'] || query['filter[payload]']) return undefined;
  const queues = list(query['filter[queue]'])?.map((name) =>
    name.startsWith('task/')
      ? ({ type: 'task', name: name.slice('task/'.length) } as const)
      : ({ type: 'custom', name } as const),
  );
  const isTest = query['filter[isTest]'];
  const given = {
    status: list(query['filter[status]']),
    taskIdentifier: list(query['filter[taskIdentifier]']),
    version: list(query['filter[version]']),
    tag: list(query['filter[tag]']),
    queue: queues,
    machine: list(query['filter[machine]']),
    region: list(query['filter[region]']),
    isTest: isTest === undefined ? undefined : isTest === 'true',
    schedule: query['filter[schedule]'],
    batch: query['filter[batch]'],
    bulkAction: query['filter[bulkAction]'],
    error: query['filter[error]'],
    from: query['filter[createdAt][from]'],
    to: query['filter[createdAt][to]'],
    period: query['filter[createdAt][period]'],
  };
  const known = Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined));
  // Without any of them, the list has the runs of seven days.
  return (Object.keys(known).length > 0 ? known : { period: '7d' }) as BulkFilter;
}
