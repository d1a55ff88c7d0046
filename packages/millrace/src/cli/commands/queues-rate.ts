import type { Queue, RateLimitOptions } from '@millrace/sdk';
import { Command, InvalidArgumentError } from 'commander';
import { openClient, withConnectionOptions, type ConnectionOptions } from '../connection.ts';
import { CommandFailed, exitCodes } from '../exit-codes.ts';
import { printJson, screenOn } from '../screen.ts';
import { queueName } from './queue-name.ts';
import { queueNamed } from './runs-list.ts';

type Rate = NonNullable<Queue['rateLimit']['current']>;

const units = [
  [86_400, 'd'],
  [3_600, 'h'],
  [60, 'm'],
] as const;

/** Formatted such as `100/1m, 10 at once`. */
export function rateShown(rate: Rate | null): string {
  if (rate === null) return 'none';
  const { limit, period, burst, key } = rate;
  const [seconds, unit] = units.find(([of]) => period % of === 0) ?? [1, 's'];
  const atOnce = burst < limit ? `, ${burst} at once` : '';
  return `${limit}/${period / seconds}${unit}${atOnce}${key ? ', each key' : ''}`;
}

/** The target rate. `code` means the rate declared in code. */
type TargetRate = { readonly limit: number; readonly period: string } | 'code' | 'none';

function parseRate(text: string): TargetRate {
  if (text === 'none' || text === 'code') return text;
  const [, limit, period] = /^(\d{1,7})\/(\S+)$/.exec(text) ?? [];
  if (limit === undefined || period === undefined)
    throw new InvalidArgumentError('Must be a count and a period such as 100/1m or 5/1s, none, or code.');
  return { limit: Number(limit), period: /^\D/.test(period) ? `1${period}` : period };
}

function count(text: string): number {
  if (/^\d{1,7}$/.test(text)) return Number(text);
  throw new InvalidArgumentError('Must be a whole number.');
}

interface RateOptions extends ConnectionOptions {
  readonly to: TargetRate;
  readonly burst?: number;
  readonly perKey?: boolean;
  readonly json?: boolean;
}

/** The limit, combined with its other options. */
function limitOf({ to, burst, perKey }: RateOptions): RateLimitOptions | 'code' | null {
  if (typeof to !== 'string') return { ...to, burst, ...(perKey && { key: 'concurrencyKey' }) };
  if (burst === undefined && !perKey) return to === 'none' ? null : to;
  throw new CommandFailed(exitCodes.usage, '--burst and --per-key require a limit such as --to 100/1m.');
}

export const rateCommand = (): Command =>
  withConnectionOptions(
    new Command('rate')
      .description('set the rate limit of a queue')
      .argument('<queue>', 'queue name; task/<id> is the queue of a task')
      .requiredOption(
        '--to <rate>',
        'rate such as 100/1m or 5/1s, none for no limit, or code for the limit in the code',
        parseRate,
      )
      .option('--burst <count>', 'maximum number of simultaneous starts; 1 spreads starts evenly', count)
      .option('--per-key', 'apply the limit to each concurrency key separately')
      .option('--json', 'print JSON'),
  ).action(async (name: string, options: RateOptions) => {
    const limit = limitOf(options);
    const { queues } = await openClient(options);
    const target = queueNamed(name);
    const changed =
      limit === 'code'
        ? await queues.resetRateLimit(target)
        : await change(() => queues.overrideRateLimit(target, limit));
    if (options.json) return printJson(changed);
    const { current } = changed.rateLimit;
    const rate = current === null ? 'any number of runs' : rateShown(current);
    screenOn(process.stdout).line(`The queue ${queueName(changed)} may start ${rate}.`);
  });

/** An invalid limit is a usage error. */
async function change(act: () => Promise<Queue>): Promise<Queue> {
  try {
    return await act();
  } catch (error) {
    if (error instanceof TypeError && error.message.startsWith('rateLimit'))
      throw new CommandFailed(exitCodes.usage, error.message);
    throw error;
  }
}
