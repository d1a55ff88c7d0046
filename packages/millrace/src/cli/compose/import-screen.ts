import type { Failures, From, Step } from '@millrace/compat';
import { printJson, screenOn, table } from '../screen.ts';
import type { ImportTriggerOptions } from './import-options.ts';

export interface Imported {
  readonly from: From;
  /** The address of the target server. */
  readonly target: string;
  readonly steps: readonly Step[];
  readonly failures: Failures;
  /** Number of saved runs. */
  readonly runs: number | undefined;
  readonly options: Pick<ImportTriggerOptions, 'apply' | 'json' | 'inactive' | 'runs'>;
}

/** Prints one line for each step, and a summary. Values of variables are never printed. */
export function printImport(imported: Imported): void {
  if (imported.options.json) printLines(imported);
  else printScreen(imported);
}

const countsOf = ({ steps, failures }: Imported): Readonly<Record<string, number>> => {
  const counts: Record<string, number> = {};
  for (const step of steps) {
    const name = failures.has(step) ? 'failed' : step.action;
    counts[name] = (counts[name] ?? 0) + 1;
  }
  return counts;
};

function printLines(imported: Imported): void {
  const { steps, failures, runs, options } = imported;
  for (const step of steps) {
    const { kind, name, action, note } = step;
    const error = failures.get(step);
    printJson({
      kind,
      name,
      action,
      ...(step.kind === 'variable'
        ? { isSecret: step.isSecret }
        : { task: step.schedule.task, active: isActive(step, imported) }),
      ...(note !== undefined && { note }),
      ...(error !== undefined && { error }),
    });
  }
  printJson({
    applied: options.apply ?? false,
    counts: countsOf(imported),
    ...(runs !== undefined && { runs, file: options.runs }),
  });
}

/** Whether an imported schedule fires here. */
const isActive = (step: Step, { options }: Imported): boolean =>
  step.kind === 'schedule' && step.schedule.active && !options.inactive;

const words: Readonly<Record<Step['action'], string>> = {
  set: 'set',
  create: 'create',
  replace: 'replace',
  same: 'same',
  keep: 'keep',
  'by-hand': 'by hand',
  'left-out': 'left out',
  'in-code': 'in code',
  'waits-for-task': 'waits',
  'not-readable': 'refused',
};

function detail(step: Step, imported: Imported): string {
  const error = imported.failures.get(step);
  if (error !== undefined) return error;
  if (step.note !== undefined) return step.note;
  if (step.kind === 'variable') return step.isSecret ? 'secret' : '';
  const { task, cron, timezone } = step.schedule;
  const state = step.action === 'create' && !isActive(step, imported) ? ', inactive' : '';
  return `${task}: ${cron} ${timezone}${state}`;
}

function printScreen(imported: Imported): void {
  const { from, target, steps, failures, runs, options } = imported;
  const { line, paint } = screenOn(process.stdout);
  line(paint.dim(`${from.env} of ${from.projectRef} at ${from.source.url}, to ${target}`));
  const rows = steps.map((step) => [
    failures.has(step) ? 'failed' : words[step.action],
    step.kind,
    step.name,
    detail(step, imported),
  ]);
  for (const row of table(rows)) line(row);
  if (steps.length === 0) line('Nothing to import.');
  printTypedIn(imported);
  const firing = steps.filter((step) => step.action === 'create' && isActive(step, imported)).length;
  if (firing > 0)
    line(
      paint.yellow(
        `${firing} of the schedules fire${firing === 1 ? 's' : ''} in the source as well: deactivate them there, or import with --inactive and activate them here later.`,
      ),
    );
  if (runs !== undefined) line(`Saved ${runs} runs in ${options.runs}.`);
  line(paint.bold(summary(imported)));
}

/** Prints the values to enter manually, as commands that read the value from stdin. */
function printTypedIn({ steps }: Imported): void {
  const names = steps.filter(({ action }) => action === 'by-hand').map(({ name }) => name);
  if (names.length === 0) return;
  const { line } = screenOn(process.stdout);
  line('These values could not be read. Set each with its command:');
  for (const name of names) line(`  millrace env set --secret ${name}`);
}

function summary({ steps, failures, options }: Imported): string {
  const changing = steps.filter(
    (step) => ['set', 'create', 'replace'].includes(step.action) && !failures.has(step),
  );
  const count = (kind: Step['kind']): string => {
    const number = changing.filter((step) => step.kind === kind).length;
    return `${number} ${kind}${number === 1 ? '' : 's'}`;
  };
  const what = `${count('variable')} and ${count('schedule')}`;
  if (!options.apply)
    return changing.length === 0
      ? 'Nothing would be changed.'
      : `Nothing was changed. --apply imports ${what}.`;
  return changing.length === 0 ? 'Nothing was changed.' : `Imported ${what}.`;
}
