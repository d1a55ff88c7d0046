import { runFilterKeys, wordOfStatus } from '@millrace/contract/filter';
import { queryClient, keyOf } from '../../api/ask.ts';
import { call, type Environment } from '../../api/client.ts';
import { runStatusLooks } from '../../parts/status/run-status.ts';
import type { FilterKey } from '../../parts/filter/complete.ts';
import type { RunStatus } from '@millrace/contract';

const periods = ['15m', '1h', '2h', '6h', '12h', '1d', '2d', '7d', '30d'];
const machines = ['micro', 'small-1x', 'small-2x', 'medium-1x', 'medium-2x', 'large-1x', 'large-2x'];

/** The words of the filter of runs, with values from the API. */
export function runFilterKeysOf(environment: Environment): readonly FilterKey[] {
  const ask = async <T>(
    name: 'listTasks' | 'listQueues' | 'listDeployments',
    pick: (reply: never) => T,
  ): Promise<T> =>
    pick(
      (await queryClient.ensureQueryData({
        queryKey: keyOf(environment, name, 'completion'),
        queryFn: () => call(name, {}, { environment }),
        staleTime: 60_000,
      })) as never,
    );
  const values: Readonly<Record<string, FilterKey['values']>> = {
    status: () => ['running', ...(Object.keys(runStatusLooks) as RunStatus[]).map(wordOfStatus)],
    task: () => ask('listTasks', ({ data }: { data: { id: string }[] }) => data.map(({ id }) => id)),
    queue: () =>
      ask('listQueues', ({ data }: { data: { name: string; type: string }[] }) =>
        data.map(({ name, type }) => (type === 'task' ? `task/${name}` : name)),
      ),
    version: () =>
      ask('listDeployments', ({ data }: { data: { version: string }[] }) =>
        data.map(({ version }) => version),
      ),
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
