import { Command } from 'commander';
import { openClient, withConnectionOptions, type ConnectionOptions } from '../connection.ts';
import { exitCodes } from '../exit-codes.ts';
import { followRun, warnWithoutVersion } from '../follow-run.ts';
import { json } from '../options.ts';
import { printRun } from '../print-run.ts';
import { printJson, screenOn } from '../screen.ts';

interface TriggerOptions extends ConnectionOptions {
  readonly payload?: unknown;
  readonly queue?: string;
  readonly delay?: string;
  readonly tag: readonly string[];
  readonly wait?: boolean;
  readonly json?: boolean;
}

const collect = (value: string, before: readonly string[]): readonly string[] => [...before, value];

export const triggerCommand = (): Command =>
  withConnectionOptions(
    new Command('trigger')
      .description('start a run of a task')
      .argument('<task>', 'its id')
      .option('--payload <json>', 'what the task is given', json)
      .option('--queue <name>', 'another queue than the task has')
      .option('--delay <time>', 'not before: a duration such as 10m, or a date')
      .option('--tag <tag>', 'may be given several times', collect, [])
      .option('--wait', 'wait until the run is over; exit code 1 when it did not complete')
      .option('--json', 'one line of JSON, the handle; with --wait lines, the last of which is the run'),
  ).action(async (task: string, options: TriggerOptions) => {
    const { tasks, runs } = await openClient(options);
    const handle = await tasks.trigger(task, options.payload, {
      ...(options.queue !== undefined && { queue: options.queue }),
      ...(options.delay !== undefined && { delay: options.delay }),
      ...(options.tag.length > 0 && { tags: [...options.tag] }),
    });
    const { id, isCached } = handle;
    if (!options.wait) {
      if (options.json) printJson({ id, isCached });
      else screenOn(process.stdout).line(id);
      return warnWithoutVersion(runs, id);
    }
    // At once: whoever stops to wait has to know what goes on.
    if (options.json) printJson({ type: 'triggered', id, isCached });
    else screenOn(process.stdout).line(id);
    const run = await followRun(runs, id, options);
    if (options.json) printJson(run);
    else printRun(run, [], screenOn(process.stdout));
    if (!run.isSuccess) process.exitCode = exitCodes.failed;
  });
