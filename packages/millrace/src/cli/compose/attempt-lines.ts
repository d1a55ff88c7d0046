import { readableDuration } from '@millrace/contract/plain';
import type { AttemptEnd } from '@millrace/runner';
import type { Screen } from '../screen.ts';
import { throttle } from './throttle.ts';

/** Prints one line for each ended attempt: at most the first few lines of each second, and how many more there were. */
export const attemptLines = (
  { line, paint }: Pick<Screen, 'line' | 'paint'>,
  now?: () => number,
): ((end: AttemptEnd) => void) =>
  throttle(
    (end) => line(describe(end, paint)),
    (count) => line(paint.dim(`… and ${count} more`)),
    now,
  );

function describe({ task, run, attempt, outcome, took }: AttemptEnd, paint: Screen['paint']): string {
  const subject = `${task} ${paint.dim(run)}`;
  const time = paint.dim(`${readableDuration(took)}${attempt > 1 ? `, attempt ${attempt}` : ''}`);
  if (outcome.kind === 'completed') return `${paint.green('done')}    ${subject} ${time}`;
  if (outcome.kind === 'canceled') return `${paint.yellow('cancel')}  ${subject} ${time}`;
  if (outcome.kind === 'unknownTask') return `${paint.yellow('unknown')} ${subject}`;
  const error = `${outcome.error.name}: ${outcome.error.message.split('\n', 1)[0] ?? ''}`;
  if (outcome.kind === 'retry') {
    return `${paint.yellow('retry')}   ${subject} ${time} ${paint.dim(`again in ${readableDuration(outcome.delayMs)}`)} ${error}`;
  }
  return `${paint.red('failed')}  ${subject} ${time} ${outcome.status} ${error}`;
}
