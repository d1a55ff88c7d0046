import { Command, InvalidArgumentError } from 'commander';
import { openClient, withConnectionOptions, type ConnectionOptions } from '../connection.ts';
import { printJson, screenOn, table } from '../screen.ts';
import { queueName } from './queue-name.ts';
import { queueNamed } from './runs-list.ts';

interface JsonOption extends ConnectionOptions {
  readonly json?: boolean;
}

/** A whole number in a range, or `code` for the value declared in code. */
const countOrCode =
  (min: number, max: number) =>
  (text: string): number | 'code' => {
    if (text === 'code') return text;
    if (/^\d{1,6}$/.test(text) && Number(text) >= min && Number(text) <= max) return Number(text);
    throw new InvalidArgumentError(`Must be a number from ${min} to ${max}, or code.`);
  };

export const weightCommand = (): Command =>
  withConnectionOptions(
    new Command('weight')
      .description('set how many runs a concurrency key starts per turn')
      .argument('<queue>', 'queue name; task/<id> is the queue of a task')
      .argument('<key>', 'concurrency key')
      .requiredOption('--to <count>', '1 to 100, or code for the weight in the code', countOrCode(1, 100))
      .option('--json', 'print JSON'),
  ).action(async (name: string, key: string, { to, ...options }: JsonOption & { to: number | 'code' }) => {
    const { queues } = await openClient(options);
    const changed = await queues.setKeyWeight(queueNamed(name), key, to === 'code' ? null : to);
    if (options.json) return printJson(changed);
    const weight = to === 'code' ? 'the weight in the code' : `the weight ${to}`;
    screenOn(process.stdout).line(`The key ${key} of the queue ${queueName(changed)} has ${weight}.`);
  });

const listCommand = (): Command =>
  withConnectionOptions(
    new Command('list')
      .description('list shared limits by name')
      .option('--json', 'print JSON, one object per line'),
  ).action(async (options: JsonOption) => {
    const { queues } = await openClient(options);
    const found = await queues.sharedLimits();
    if (options.json) return found.forEach(printJson);
    const { line, paint } = screenOn(process.stdout);
    if (found.length === 0) return line('No shared limits.');
    const rows = found.map(({ name, running, limit, override, queues: of }) => [
      name,
      String(running),
      override === null ? String(limit) : `${limit} (overridden)`,
      of.join(', '),
    ]);
    const [head = '', ...body] = table([['limit', 'running', 'max', 'queues'], ...rows]);
    line(paint.dim(head));
    for (const row of body) line(row);
  });

const setCommand = (): Command =>
  withConnectionOptions(
    new Command('set')
      .description('set a shared concurrency limit')
      .argument('<limit>', 'name of the shared limit')
      .requiredOption(
        '--to <count>',
        '0 to 100000, or code for the limit in the code',
        countOrCode(0, 100_000),
      )
      .option('--json', 'print JSON'),
  ).action(async (name: string, { to, ...options }: JsonOption & { to: number | 'code' }) => {
    const { queues } = await openClient(options);
    const changed =
      to === 'code' ? await queues.resetSharedLimit(name) : await queues.overrideSharedLimit(name, to);
    if (options.json) return printJson(changed);
    const { limit, running } = changed;
    screenOn(process.stdout).line(`The shared limit ${name} is ${limit}; ${running} running.`);
  });

export const sharedCommand = (): Command =>
  new Command('shared')
    .description('manage concurrency limits shared by several queues')
    .addCommand(listCommand())
    .addCommand(setCommand());
