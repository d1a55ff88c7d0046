import type { Operations, Reply } from '@millrace/contract';
import type { EnvironmentClient } from '../../api/environment-client.ts';

type Listed = Reply<Operations['listErrors']>['data'][number];

/** Error groups, page by page, with their fingerprints. */
export async function* errorGroups(
  client: EnvironmentClient,
  filters: Readonly<Record<string, string>>,
): AsyncGenerator<Listed & { readonly fingerprints: readonly string[] }> {
  let after: string | undefined;
  do {
    const { data, pagination } = await client.call('listErrors', {
      query: {
        ...filters,
        fingerprints: 'true',
        sort: 'firstSeen',
        'page[size]': '100',
        ...(after !== undefined && { 'page[after]': after }),
      },
    });
    for (const group of data) yield { ...group, fingerprints: group.fingerprints ?? [group.fingerprint] };
    after = pagination.next;
  } while (after !== undefined);
}

/** The ids of error groups, by task and fingerprint. */
type GroupIds = (task: string, fingerprint: string) => string | undefined;

/** Ids of the groups of some tasks. */
export async function groupIdsOf(client: EnvironmentClient, tasks: Iterable<string>): Promise<GroupIds> {
  const found = new Map<string, Map<string, string>>();
  for (const task of new Set(tasks)) {
    const ids = new Map<string, string>();
    found.set(task, ids);
    // The filter accepts a list, and an id may contain a comma.
    const filters: Record<string, string> = task.includes(',') ? {} : { 'filter[taskIdentifier]': task };
    for await (const { id, taskIdentifier, fingerprints } of errorGroups(client, filters))
      if (taskIdentifier === task) for (const fingerprint of fingerprints) ids.set(fingerprint, id);
  }
  return (task, fingerprint) => found.get(task)?.get(fingerprint);
}
