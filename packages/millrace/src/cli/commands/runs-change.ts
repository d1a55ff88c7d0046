import { Command } from 'commander';
import { openClient, withConnectionOptions, type ConnectionOptions } from '../connection.ts';
import { json as readJson } from '../options.ts';
import { printJson, screenOn } from '../screen.ts';

interface JsonOption extends ConnectionOptions {
  readonly json?: boolean;
}

export const cancelCommand = (): Command =>
  withConnectionOptions(
    new Command('cancel')
      .description('end a run and the runs that it started')
      .argument('<run>', 'its id (run_…)')
      .option('--json', 'one line of JSON'),
  ).action(async (id: string, options: JsonOption) => {
    const { runs } = await openClient(options);
    const canceled = await runs.cancel(id);
    if (options.json) printJson(canceled);
    else screenOn(process.stdout).line(`${id} ends: at once if it waited, when its code stops if it runs.`);
  });

export const replayCommand = (): Command =>
  withConnectionOptions(
    new Command('replay')
      .description('start a new run with the payload of an old one')
      .argument('<run>', 'its id (run_…)')
      .option('--payload <json>', 'another payload', readJson)
      .option('--json', 'one line of JSON'),
  ).action(async (id: string, options: JsonOption & { payload?: unknown }) => {
    const { runs } = await openClient(options);
    const replayed = await runs.replay(id, { payload: options.payload });
    if (options.json) printJson(replayed);
    else screenOn(process.stdout).line(replayed.id);
  });
