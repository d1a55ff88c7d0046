import type { Run, RunAttempt } from '@millrace/sdk';
import { helpAt } from '@millrace/contract/help';
import { readableDuration } from '@millrace/contract/plain';
import { anchorOfFailure } from '@millrace/contract/troubleshooting';
import { foldedStack } from './folded-stack.ts';
import { shownValue } from './project-codec.ts';
import { printTable } from './print-table.ts';
import { table, type Screen } from './screen.ts';

/** Prints a run for a person, with its first attempts if they are given. */
export function printRun(run: Run, attempts: readonly RunAttempt[], { line, text, paint }: Screen): void {
  const colour = run.isSuccess ? paint.green : run.isFailed ? paint.red : paint.yellow;
  const only = attempts.length === 1 ? attempts[0] : undefined;
  const properties = [
    ['run', run.id],
    ['task', run.taskIdentifier],
    ...(run.description === undefined ? [] : [['description', run.description]]),
    ['status', colour(run.status)],
    ['attempts', String(run.attemptCount)],
    ...(only?.runner ? [['runner', `${only.runner.host}, process ${only.runner.pid}`]] : []),
    ['queue', run.queue],
    ['version', run.version ?? 'none yet'],
    ['created', run.createdAt.toISOString()],
    ...(run.finishedAt ? [['finished', run.finishedAt.toISOString()]] : []),
    ...(run.erasedAt ? [['data erased', run.erasedAt.toISOString()]] : []),
    ['took', readableDuration(run.durationMs)],
    ...(run.tags.length > 0 ? [['tags', run.tags.join(', ')]] : []),
    ...(run.payload === undefined ? [] : [['payload', shownValue(run.payload)]]),
    ...(run.output === undefined ? [] : [['output', shownValue(run.output)]]),
  ];
  for (const row of table(properties)) line(row);
  if (attempts.length > 1) {
    line();
    printAttempts(attempts);
  }
  if (run.error) {
    line();
    const { name = 'Error', message, stackTrace = '' } = run.error;
    text(paint.red(foldedStack(stackTrace) || `${name}: ${message}`));
    const anchor = anchorOfFailure(run.error);
    if (anchor !== undefined) line(paint.dim(`See ${helpAt(anchor)}`));
  }
}

const printAttempts = (attempts: readonly RunAttempt[]): void =>
  printTable(
    ['attempt', 'status', 'waited', 'took', 'runner', 'version', 'error'],
    attempts.map((attempt) => [
      String(attempt.number),
      attempt.status,
      readableDuration(
        attempt.waitedFor.reduce((all, { from, until }) => all + until.getTime() - from.getTime(), 0),
      ),
      readableDuration(attempt.durationMs),
      attempt.runner?.host ?? '',
      attempt.version ?? '',
      attempt.error ? firstLine(`${attempt.error.name ?? 'Error'}: ${attempt.error.message}`) : '',
    ]),
  );

const maxError = 60;

function firstLine(text: string): string {
  const [first = ''] = text.split('\n');
  return first.length > maxError ? `${first.slice(0, maxError - 1).toWellFormed()}…` : first;
}
