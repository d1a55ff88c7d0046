import type { Run } from '@millrace/sdk';
import { duration, table, type Screen } from './screen.ts';

/** Prints a run for a person. */
export function printRun(run: Run, { line, text, paint }: Screen): void {
  const colour = run.isSuccess ? paint.green : run.isFailed ? paint.red : paint.yellow;
  const facts = [
    ['run', run.id],
    ['task', run.taskIdentifier],
    ...(run.description === undefined ? [] : [['description', run.description]]),
    ['status', colour(run.status)],
    ['attempts', String(run.attemptCount)],
    ['queue', run.queue],
    ['version', run.version ?? 'none yet'],
    ['created', run.createdAt.toISOString()],
    ...(run.finishedAt ? [['finished', run.finishedAt.toISOString()]] : []),
    ['took', duration(run.durationMs)],
    ...(run.tags.length > 0 ? [['tags', run.tags.join(', ')]] : []),
    ...(run.payload === undefined ? [] : [['payload', JSON.stringify(run.payload)]]),
    ...(run.output === undefined ? [] : [['output', JSON.stringify(run.output)]]),
  ];
  for (const row of table(facts)) line(row);
  if (run.error) {
    line();
    text(paint.red(run.error.stackTrace || `${run.error.name ?? 'Error'}: ${run.error.message}`));
  }
}
