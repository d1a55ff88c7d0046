import { withoutHelp } from '@millrace/contract/help';
import type * as Sdk from '@millrace/sdk';
import { Command, Option } from 'commander';
import { findServer, openClient, withConnectionOptions, type ConnectionOptions } from '../connection.ts';
import { dashboardLink } from '../dashboard-link.ts';
import { CommandFailed, exitCodes } from '../exit-codes.ts';
import { followRun, warnWithoutVersion } from '../follow-run.ts';
import { json, wholeNumber } from '../options.ts';
import { findCodec, withCodecOption, type CodecOptions } from '../project-codec.ts';
import { printRun } from '../print-run.ts';
import { printJson, screenOn } from '../screen.ts';

interface TriggerOptions extends ConnectionOptions, CodecOptions {
  readonly payload?: unknown;
  readonly queue?: string;
  readonly concurrencyKey?: string;
  readonly priority?: number;
  readonly delay?: string;
  readonly tag: readonly string[];
  readonly singleton?: string;
  readonly onConflict?: 'skip' | 'queue' | 'replace';
  readonly batchKey?: string;
  readonly allowUnknown?: boolean;
  readonly wait?: boolean;
  readonly json?: boolean;
}

const collect = (value: string, before: readonly string[]): readonly string[] => [...before, value];

/** A mistyped id would trigger a run that waits for a version with such a task. */
async function refuseUnknown(tasks: typeof Sdk.tasks, task: string): Promise<void> {
  try {
    await tasks.retrieve(task);
  } catch (error) {
    const { status, message } = error as { readonly status?: unknown; readonly message: string };
    // A key may have permission to trigger tasks but not to read them.
    if (status === 403) return;
    if (status !== 404) throw error;
    throw new CommandFailed(
      exitCodes.failed,
      `${withoutHelp(message).replace(/^404 /, '')} Nothing was triggered. With --allow-unknown the run waits for a version that contains the task.`,
    );
  }
}

const linkTo = async (run: string, options: TriggerOptions): Promise<string | undefined> =>
  dashboardLink({ ...(await findServer(options)), branch: options.branch }, `runs/${run}`);

/** Scripts read the id from stdout. It is printed before the link is requested. */
async function printHandle(id: string, options: TriggerOptions): Promise<void> {
  screenOn(process.stdout).line(id);
  const dashboardUrl = await linkTo(id, options);
  if (dashboardUrl === undefined) return;
  const { line, paint } = screenOn(process.stderr);
  line(paint.dim(`Dashboard: ${dashboardUrl}`));
}

export const triggerCommand = (): Command =>
  withCodecOption(
    withConnectionOptions(
      new Command('trigger')
        .description('trigger a run of a task')
        .argument('<task>', 'task ID')
        .option('--payload <json>', 'payload of the run, as JSON', json)
        .option('--queue <name>', 'queue to use instead of the queue of the task')
        .option('--concurrency-key <key>', 'concurrency key within the queue')
        .option('--priority <seconds>', 'priority: queue the run as if it were this much older', wholeNumber)
        .option('--delay <time>', 'start after this duration, such as 10m, or at this date')
        .option('--tag <tag>', 'tag of the run; repeatable', collect, [])
        .option('--singleton <key>', 'singleton key: at most one run with it executes, and one waits')
        .addOption(
          new Option('--on-conflict <action>', 'action if a run with the singleton key exists').choices([
            'skip',
            'queue',
            'replace',
          ]),
        )
        .option(
          '--batch-key <key>',
          'for tasks with batch: share a run only with triggers that have this key',
        )
        .option(
          '--allow-unknown',
          'allow a task that the current version does not contain; the run waits for a version that does',
        )
        .option('--wait', 'wait for the run to end; exit code 1 if it did not complete')
        .option(
          '--json',
          'print JSON: the run handle; with --wait, one object per line, ending with the run',
        ),
    ),
  ).action(async (task: string, options: TriggerOptions): Promise<void> => {
    const { tasks, runs } = await openClient(options, await findCodec(options));
    if (!options.allowUnknown) await refuseUnknown(tasks, task);
    const handle = await tasks.trigger(task, options.payload, {
      ...(options.queue !== undefined && { queue: options.queue }),
      ...(options.concurrencyKey !== undefined && { concurrencyKey: options.concurrencyKey }),
      ...(options.priority !== undefined && { priority: options.priority }),
      ...(options.delay !== undefined && { delay: options.delay }),
      ...((options.singleton !== undefined || options.onConflict !== undefined) && {
        singleton: { key: options.singleton, onConflict: options.onConflict },
      }),
      ...(options.batchKey !== undefined && { batchKey: options.batchKey }),
      ...(options.tag.length > 0 && { tags: [...options.tag] }),
    });
    const { id, isCached, isDropped } = handle;
    if (isDropped) {
      if (options.json) printJson({ id, isCached, isDropped });
      screenOn(process.stderr).line(
        `Dropped: the trigger limit of ${task} is exhausted. No run was created.`,
      );
      process.exitCode = exitCodes.failed;
      return;
    }
    if (!options.wait) {
      if (options.json) printJson({ id, isCached, dashboardUrl: await linkTo(id, options) });
      else await printHandle(id, options);
      if (isCached) screenOn(process.stderr).line('The run already existed. Nothing was triggered.');
      return warnWithoutVersion(runs, id);
    }
    // Printed immediately: a user who stops waiting needs the id of the run.
    if (options.json) printJson({ type: 'triggered', id, isCached, dashboardUrl: await linkTo(id, options) });
    else await printHandle(id, options);
    const run = await followRun(runs, id, options);
    if (options.json) printJson(run);
    else printRun(run, [], screenOn(process.stdout));
    if (!run.isSuccess) process.exitCode = exitCodes.failed;
  });
