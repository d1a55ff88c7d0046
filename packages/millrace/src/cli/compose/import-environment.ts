import {
  applySteps,
  importRuns,
  planImport,
  readContents,
  type Contents,
  type Done,
} from '../../transfer/import.ts';
import type { Action, Step } from '../../transfer/part.ts';
import { exitCodes } from '../exit-codes.ts';
import { progressLine } from '../progress-line.ts';
import { printJson, screenOn, table } from '../screen.ts';
import { waitsFor } from '../waiting.ts';
import { kindsOf, openRemote, requireRights, type TransferOptions } from './transfer-remote.ts';

export interface ImportEnvironmentOptions extends TransferOptions {
  readonly dryRun?: boolean;
  readonly override?: boolean;
  readonly inactive?: boolean;
}

interface Runs {
  create: number;
  same: number;
  failed: number;
}

/** Imports the contents of the file into the environment of the key. The whole file and the permissions of the key are checked first. */
export async function importEnvironment(file: string, options: ImportEnvironmentOptions): Promise<void> {
  const { dryRun = false, override = false, inactive = false, json = false } = options;
  const only = kindsOf(options.only);
  const contents = await readContents(file);
  const selected = new Set([...contents.counts.keys()].filter((kind) => only.has(kind)));
  const remote = await openRemote(options);
  requireRights(remote, selected, 'import');
  waitsFor('the environment to be compared');
  const steps = await planImport(contents, remote, { only, override, inactive });
  waitsFor();
  const print = json ? printLine : printRow;
  const runs: Runs = { create: 0, same: 0, failed: 0 };
  let failures = 0;
  for await (const done of dryRun ? steps.map((step): Done => ({ step })) : applySteps(steps)) {
    if (done.error !== undefined) failures += 1;
    print(done);
  }
  const count = selected.has('run') ? (contents.counts.get('run') ?? 0) : 0;
  if (count > 0 && !dryRun) {
    const progress = progressLine();
    for await (const result of importRuns(remote, file)) {
      runs[result.action] += 1;
      progress(`${runs.create + runs.same + runs.failed} of ${count} runs`);
      if (result.action === 'failed')
        print({ step: { kind: 'run', name: result.id, action: 'create' }, error: result.error });
      else if (json) printJson({ kind: 'run', name: result.id, action: result.action, run: result.runId });
    }
  }
  failures += runs.failed;
  summarise({ contents, steps, runs, count, dryRun, failures, json, isFiring: isFiring(steps) });
  if (!dryRun && (failures > 0 || steps.some(({ action }) => isPending(action))))
    process.exitCode = exitCodes.failed;
}

/** It was not imported, and requires a manual step. */
const isPending = (action: Action): boolean => action === 'waits' || action === 'by-hand';

const isFiring = (steps: readonly Step[]): boolean =>
  steps.some(({ kind, action, note }) => kind === 'schedule' && action === 'create' && note !== undefined);

const printLine = ({ step: { kind, name, action, note }, secret, error }: Done): void =>
  printJson({
    kind,
    name,
    action: error === undefined ? action : 'failed',
    ...(note !== undefined && { note }),
    ...(secret !== undefined && { secret }),
    ...(error !== undefined && { error }),
  });

const words: Readonly<Partial<Record<Action, string>>> = { 'by-hand': 'by hand', 'left-out': 'left out' };

function printRow({ step: { kind, name, action, note }, secret, error }: Done): void {
  const { line, paint } = screenOn(process.stdout);
  const word = error === undefined ? (words[action] ?? action) : 'failed';
  const detail = [error ?? note, secret === undefined ? undefined : `secret ${secret}, shown only once`];
  const [row = ''] = table([[word.padEnd(8), kind.padEnd(12), name, detail.filter(Boolean).join(', ')]]);
  line(error === undefined ? row : paint.red(row));
}

interface Summary {
  readonly contents: Contents;
  readonly steps: readonly Step[];
  readonly runs: Runs;
  readonly count: number;
  readonly dryRun: boolean;
  readonly failures: number;
  readonly json: boolean;
  readonly isFiring: boolean;
}

function summarise({ contents, steps, runs, count, dryRun, failures, json, isFiring: fires }: Summary): void {
  const changing = steps.filter(({ apply }) => apply !== undefined).length;
  const { head } = contents;
  if (json) {
    const counts: Record<string, number> = {};
    for (const { action } of steps) counts[action] = (counts[action] ?? 0) + 1;
    return printJson({
      dryRun,
      from: { project: head.project, environment: head.environment, exportedAt: head.exportedAt },
      counts,
      runs: dryRun ? { inFile: count } : runs,
      failed: failures,
    });
  }
  const { line, paint } = screenOn(process.stdout);
  const history = contents.counts.get('finished-run');
  if (history !== undefined) line(`The file contains ${history} finished runs, which are not imported.`);
  if (fires && !dryRun)
    line(
      paint.yellow(
        'The created schedules now fire here. Deactivate them in the source environment, or import with --inactive.',
      ),
    );
  if (dryRun) {
    line(
      paint.bold(
        `Nothing was changed. Without --dry-run: ${changing} changes, and ${count} runs unless they already exist.`,
      ),
    );
    return;
  }
  const ofRuns =
    count === 0 ? '' : ` Runs: ${runs.create} created, ${runs.same} already existing, ${runs.failed} failed.`;
  line(paint.bold(`${changing - (failures - runs.failed)} changes.${ofRuns}`));
}
