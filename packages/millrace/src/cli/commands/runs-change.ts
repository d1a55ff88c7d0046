import type { BulkRuns } from '@millrace/sdk';
import { Command } from 'commander';
import { openClient } from '../connection.ts';
import { findCodec, withCodecOption, type CodecOptions } from '../project-codec.ts';
import { CommandFailed, exitCodes } from '../exit-codes.ts';
import { warnWithoutVersion } from '../follow-run.ts';
import { json as readJson } from '../options.ts';
import { printJson, screenOn } from '../screen.ts';
import { bulkSelection, followBulk, withBulkOptions, type BulkOptions } from './runs-bulk.ts';

export const cancelCommand = (): Command =>
  withBulkOptions(
    new Command('cancel')
      .description('cancel runs by ID or filter, with their child runs')
      .argument('[runs...]', 'run IDs (run_…)'),
  ).action(async (ids: string[], options: BulkOptions) => {
    const { runs } = await openClient(options);
    const selection = bulkSelection(ids, options);
    if (typeof selection !== 'string') {
      return followBulk(runs.bulk, await runs.bulk.cancel(selection), options);
    }
    const canceled = await runs.cancel(selection);
    if (options.json) return printJson(canceled);
    screenOn(process.stdout).line(`Canceled ${selection}. If it is executing, it ends when its code stops.`);
  });

interface ReplayCommandOptions extends BulkOptions, CodecOptions {
  readonly payload?: unknown;
  readonly fromStep?: string;
}

export const replayCommand = (): Command =>
  withCodecOption(
    withBulkOptions(
      new Command('replay')
        .description('replay runs by ID or filter, with the same payload')
        .argument('[runs...]', 'run IDs (run_…)')
        .option('--payload <json>', 'new payload, for a single run', readJson)
        .option('--from-step <name>', 'reuse the results of all steps before this one, for a single run'),
    ),
  ).action(async (ids: string[], { payload, fromStep, ...options }: ReplayCommandOptions) => {
    const codec = payload === undefined ? undefined : await findCodec(options);
    const { runs } = await openClient(options, codec);
    const selection: BulkRuns | string = bulkSelection(ids, options);
    if (typeof selection !== 'string') {
      if (payload !== undefined)
        throw new CommandFailed(exitCodes.usage, '--payload applies only to the replay of one run.');
      if (fromStep !== undefined)
        throw new CommandFailed(exitCodes.usage, '--from-step applies only to the replay of one run.');
      return followBulk(runs.bulk, await runs.bulk.replay(selection), options);
    }
    const replayed = await runs.replay(selection, { payload, ...(fromStep !== undefined && { fromStep }) });
    if (options.json) printJson(replayed);
    else screenOn(process.stdout).line(replayed.id);
    await warnWithoutVersion(runs, replayed.id);
  });
