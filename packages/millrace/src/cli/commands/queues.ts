import type { EnvironmentConcurrency, Queue } from '@millrace/sdk';
import { Command, InvalidArgumentError } from 'commander';
import { openClient, withConnectionOptions, type ConnectionOptions } from '../connection.ts';
import { CommandFailed, exitCodes } from '../exit-codes.ts';
import { printJson, screenOn, table } from '../screen.ts';
import { queueName } from './queue-name.ts';
import { rateCommand, rateShown } from './queues-rate.ts';
import { sharedCommand, weightCommand } from './queues-share.ts';
import { queueNamed } from './runs-list.ts';

interface JsonOption extends ConnectionOptions {
  readonly json?: boolean;
}

interface TargetOption extends JsonOption {
  readonly environment?: boolean;
}

const limitText = (slots: number | null): string => (slots === null ? 'none' : String(slots));

const listCommand = (): Command =>
  withConnectionOptions(
    new Command('list')
      .description('list queues by name')
      .option('--json', 'print JSON, one object per line'),
  ).action(async (options: JsonOption) => {
    const { queues } = await openClient(options);
    const found: Queue[] = [];
    for await (const queue of queues.list({ perPage: 100 })) found.push(queue);
    if (options.json) return found.forEach(printJson);
    const { line, paint } = screenOn(process.stdout);
    if (found.length === 0) return line('No queues.');
    const rows = found.map((queue) => [
      queueName(queue),
      String(queue.running),
      String(queue.queued),
      limitText(queue.concurrencyLimit),
      rateOf(queue),
      queue.paused ? 'paused' : '',
    ]);
    const [head = '', ...body] = table([['queue', 'running', 'queued', 'limit', 'rate', ''], ...rows]);
    line(paint.dim(head));
    for (const row of body) line(row);
  });

/** The rate limit and its remainder. */
function rateOf({ rateLimit: { current, available, nextStartAt } }: Queue): string {
  if (available === null) return rateShown(current);
  const next = nextStartAt ? `, next ${nextStartAt.toISOString().slice(11, 23)}` : '';
  return `${rateShown(current)} (${available} left${next})`;
}

function print(changed: Queue | EnvironmentConcurrency, json: boolean | undefined): void {
  if (json) return printJson(changed);
  const what = 'name' in changed ? `The queue ${queueName(changed)}` : 'The environment';
  const state = changed.paused ? 'is paused' : 'is not paused';
  screenOn(process.stdout).line(
    `${what} ${state}; limit ${limitText(changed.concurrencyLimit)}, ${changed.running} running, ${changed.queued} queued.`,
  );
}

/** One queue, or with --environment the whole environment. */
const withTarget = (command: Command): Command =>
  withConnectionOptions(
    command
      .argument('[queue]', 'queue name; task/<id> is the queue of a task')
      .option('--environment', 'apply to the whole environment instead of a queue')
      .option('--json', 'print JSON'),
  );

function targetOf(name: string | undefined, { environment = false }: TargetOption) {
  if (environment === (name === undefined)) return name === undefined ? undefined : queueNamed(name);
  throw new CommandFailed(exitCodes.usage, 'Specify either a queue or --environment.');
}

const pauseCommand = (verb: 'pause' | 'resume', description: string): Command =>
  withTarget(new Command(verb).description(description)).action(
    async (name: string | undefined, options: TargetOption) => {
      const target = targetOf(name, options);
      const { queues } = await openClient(options);
      const changed = target
        ? await queues[verb](target)
        : await queues.updateEnvironment({ paused: verb === 'pause' });
      print(changed, options.json);
    },
  );

/** Not null, because commander turns null into an empty text. */
function limit(text: string): number | 'none' {
  if (text === 'none') return text;
  if (/^\d{1,6}$/.test(text) && Number(text) <= 100_000) return Number(text);
  throw new InvalidArgumentError('Must be a number from 0 to 100000, or none.');
}

const limitCommand = (): Command =>
  withTarget(new Command('limit').description('set the concurrency limit of a queue'))
    .requiredOption(
      '--to <count>',
      'number, or none to return to the limit in the code (for the environment, no limit)',
      limit,
    )
    .action(async (name: string | undefined, { to, ...options }: TargetOption & { to: number | 'none' }) => {
      const target = targetOf(name, options);
      const newLimit = to === 'none' ? null : to;
      const { queues } = await openClient(options);
      if (!target) return print(await queues.updateEnvironment({ concurrencyLimit: newLimit }), options.json);
      const changed =
        newLimit === null
          ? await queues.resetConcurrencyLimit(target)
          : await queues.overrideConcurrencyLimit(target, newLimit);
      print(changed, options.json);
    });

export const queuesCommand = (): Command =>
  new Command('queues')
    .description('list queues, pause them and set their limits')
    .addCommand(listCommand())
    .addCommand(pauseCommand('pause', 'pause a queue: no more runs start, active runs continue'))
    .addCommand(pauseCommand('resume', 'resume a paused queue'))
    .addCommand(limitCommand())
    .addCommand(rateCommand())
    .addCommand(weightCommand())
    .addCommand(sharedCommand());
