import type { RunFilterParams } from '@millrace/contract/filter';
import { finalStatuses, isFinal, runStatuses } from '@millrace/contract/plain';
import type { RunCount, runs as sdkRuns } from '@millrace/sdk';
import { Option, type Command } from 'commander';
import { openClient, withConnectionOptions, type ConnectionOptions } from '../connection.ts';
import { CommandFailed, exitCodes } from '../exit-codes.ts';
import { words } from './runs-list.ts';
import { selectedFilter, withSelectionOptions, type SelectionOptions } from './runs-selection.ts';

export interface EndedOptions extends ConnectionOptions, SelectionOptions {
  readonly where?: RunFilterParams;
}

/** A selection of ended runs of any age, in the format of the API. */
export type EndedFilter = NonNullable<Parameters<(typeof sdkRuns)['count']>[0]>;

/** The options that select ended runs: the filter of the dashboard, and one option for each of its parts. */
export const withEndedOptions = (command: Command): Command =>
  withConnectionOptions(
    withSelectionOptions(
      command.addOption(
        new Option(
          '--where <filter>',
          'filter as in the dashboard, such as "tag:user-42 task:mail"',
        ).argParser(words),
      ),
      { statuses: finalStatuses, defaultPeriod: 'any age' },
    ),
  );

/** The filter; undefined if no option selects runs. An option replaces the same part of `--where`. */
export function endedFilter(options: EndedOptions): EndedFilter | undefined {
  const { where } = options;
  const live = where?.status?.filter((status) => !isFinal(status)) ?? [];
  if (live.length > 0) {
    throw new CommandFailed(
      exitCodes.usage,
      `--where: ${live.join(' and ')} runs have not ended. Use a final status: ${finalStatuses.join(', ')}.`,
    );
  }
  const selected = selectedFilter(options);
  return where || selected ? { ...where, ...selected } : undefined;
}

/** How many runs the filter selects, and how many more match it but have not ended. */
export async function countEnded(
  options: EndedOptions,
  filter: EndedFilter,
): Promise<{ readonly ended: RunCount; readonly live: RunCount }> {
  const { runs } = await openClient(options);
  const hasRange = [filter.period, filter.from, filter.to].some((end) => end !== undefined);
  const counted: EndedFilter = { ...filter, ...(!hasRange && { from: 0 }) };
  const none: RunCount = { count: 0, isExact: true };
  const [ended, live] = await Promise.all([
    runs.count({ ...counted, status: filter.status ?? [...finalStatuses] }),
    filter.status === undefined
      ? runs.count({ ...counted, status: runStatuses.filter((status) => !isFinal(status)) })
      : none,
  ]);
  return { ended, live };
}

/** `1 run`, `12 runs`, or `10000+ runs` for a count that stopped early. */
export const runsText = ({ count, isExact }: RunCount): string =>
  `${count}${isExact ? '' : '+'} ${count === 1 && isExact ? 'run' : 'runs'}`;
