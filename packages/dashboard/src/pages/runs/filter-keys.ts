import { runFilterKeys, wordOfStatus } from '@millrace/contract/filter';
import { queryClient, keyOf } from '../../api/ask.ts';
import { call, type Environment } from '../../api/client.ts';
import type { InputOf, ReplyOf } from '../../api/operation-types.ts';
import { runStatusBadges } from '../../parts/status/run-status.ts';
import type { FilterKey } from '../../parts/filter/complete.ts';
import type { RunStatus } from '@millrace/contract';
import { fullName } from '../../parts/queue-name.ts';

const periods = ['15m', '1h', '2h', '6h', '12h', '1d', '2d', '7d', '30d'];
const machines = ['micro', 'small-1x', 'small-2x', 'medium-1x', 'medium-2x', 'large-1x', 'large-2x'];

/** The words of the run filter, with values from the API. */
export function runFilterKeysOf(environment: Environment): readonly FilterKey[] {
  const ask = <N extends 'listTasks' | 'listQueues' | 'listDeployments'>(
    name: N,
    input: InputOf<N> = {} as InputOf<N>,
  ): Promise<ReplyOf<N>> =>
    queryClient.ensureQueryData<ReplyOf<N>>({
      queryKey: [...keyOf(environment, name, input), 'completion'],
      queryFn: () => call(name, input, { environment }),
      staleTime: 60_000,
    });
  const values: Readonly<Record<string, FilterKey['values']>> = {
    status: () => ['running', ...(Object.keys(runStatusBadges) as RunStatus[]).map(wordOfStatus)],
    task: async () => (await ask('listTasks')).data.map(({ id }) => id),
    queue: async (typed) => {
      const query = { perPage: 20, 'filter[search]': typed || undefined };
      const { data } = await ask('listQueues', { query });
      return data.map(fullName);
    },
    version: async () =>
      (await ask('listDeployments', { query: { 'page[size]': 100 } })).data.map(({ version }) => version),
    since: () => periods,
    machine: () => machines,
    test: () => ['true', 'false'],
  };
  return Object.entries(runFilterKeys).map(([key, about]) => ({
    key,
    about,
    ...(values[key] && { values: values[key] }),
  }));
}
