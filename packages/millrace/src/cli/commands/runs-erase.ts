import type { Erasure } from '@millrace/contract';
import { Command } from 'commander';
import { followErasure } from '../../api/follow-erasure.ts';
import { call } from '../call.ts';
import { confirmed } from '../confirm.ts';
import { branchServer } from '../connection.ts';
import { CommandFailed, exitCodes } from '../exit-codes.ts';
import { progressLine } from '../progress-line.ts';
import { printJson, screenOn } from '../screen.ts';
import { waitsFor } from '../waiting.ts';
import {
  countEnded,
  endedFilter,
  runsText,
  withEndedOptions,
  type EndedFilter,
  type EndedOptions,
} from './runs-ended.ts';

interface EraseOptions extends EndedOptions {
  readonly yes?: boolean;
  readonly detach?: boolean;
  readonly json?: boolean;
}

type Selection = { readonly filter: EndedFilter } | { readonly runIds: readonly string[] };

export const eraseCommand = (): Command =>
  withEndedOptions(
    new Command('erase')
      .description(
        'erase the data of ended runs: payloads, outputs, errors, metadata, tags, logs, spans, packets',
      )
      .argument('[runs...]', 'run IDs (run_…)'),
  )
    .option('-y, --yes', 'skip the confirmation prompt')
    .option('--detach', 'do not wait for the erasure to finish')
    .option('--json', 'print JSON')
    .addHelpText(
      'after',
      '\nThe id, task, status, times, version and queue of a run remain. Runs that have not ended are skipped: exit code 1.',
    )
    .action(async (ids: string[], options: EraseOptions) => {
      const { yes, json } = options;
      const { line } = screenOn(process.stdout);
      const selection = selectionOf(ids, options);
      const count = await announced(selection, options);
      if (count === 0)
        return json ? printJson({ counts: { erased: 0, skipped: 0 } }) : line('No ended runs match.');
      const question = `Erase the data of ${count}? This cannot be undone.`;
      if (!yes && !(await confirmed(question, 'pass --yes')))
        throw new CommandFailed(exitCodes.failed, 'Nothing was erased.');
      const { login, headers } = await branchServer(options);
      const erasure = await call(login, 'createErasure', { headers, body: selection });
      if (options.detach) return json ? printJson(erasure) : line(erasure.id);
      if (!json)
        line(
          `${erasure.id}  continues without this command. To stop it: millrace runs erasures abort ${erasure.id}`,
        );
      waitsFor(`${erasure.id} to finish; runs that ended less than a minute ago are erased last`);
      const progress = progressLine();
      const params = { erasureId: erasure.id };
      const ended = await followErasure(
        () => call(login, 'retrieveErasure', { headers, params }),
        (erased) => {
          if (erased > 0) progress(`${erased} runs done`);
        },
      );
      waitsFor();
      if (json) printJson(ended);
      else line(sentenceOf(ended));
      if (ended.status === 'ABORTED') process.exitCode = exitCodes.failed;
      if (ended.counts.skipped > 0) {
        throw new CommandFailed(
          exitCodes.failed,
          `Skipped: ${runsText({ count: ended.counts.skipped, isExact: true })} that had not ended or did not exist. Wait for them or cancel them, and run the command again.`,
        );
      }
    });

function selectionOf(ids: readonly string[], options: EraseOptions): Selection {
  const filter = endedFilter(options);
  if (ids.length > 0 && filter)
    throw new CommandFailed(exitCodes.usage, 'Pass run IDs or filters, not both.');
  if (ids.length > 0) return { runIds: ids };
  if (filter) return { filter };
  throw new CommandFailed(
    exitCodes.usage,
    'No runs selected. Pass run IDs (run_…) or filters, such as --where "tag:user-42".',
  );
}

/** Prints how many runs are selected, and returns it for the question; 0 if there are none. */
async function announced(selection: Selection, options: EraseOptions): Promise<string | 0> {
  if ('runIds' in selection) return runsText({ count: selection.runIds.length, isExact: true });
  const { ended, live } = await countEnded(options, selection.filter);
  if (ended.count === 0 && ended.isExact) return 0;
  if (!options.json) {
    const { line } = screenOn(process.stdout);
    line(`${runsText(ended)} selected.`);
    if (live.count > 0) line(`Skipped, because they have not ended: ${runsText(live)}.`);
  }
  return runsText(ended);
}

export const sentenceOf = ({ mode, status, counts: { erased } }: Erasure): string => {
  const runs = erased === 1 ? '1 run' : `${erased} runs`;
  const done = mode === 'delete' ? `Deleted ${runs}` : `Erased the data of ${runs}`;
  return status === 'ABORTED'
    ? `${done}, and was then stopped.`
    : status === 'PENDING'
      ? `${done} so far.`
      : `${done}.`;
};
