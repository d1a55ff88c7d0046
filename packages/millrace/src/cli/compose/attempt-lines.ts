import type { AttemptEnd } from '../../runner/options.ts';
import { duration, type Screen } from '../screen.ts';

/** More than a person can read, and enough to slow down what is shown. */
const mostASecond = 20;

/** One line an attempt that ended; of a flood only the first lines of each second and how many more there were. */
export function attemptLines(
  { line, paint }: Pick<Screen, 'line' | 'paint'>,
  now: () => number = () => performance.now(),
) {
  let since = Number.NEGATIVE_INFINITY;
  let shown = 0;
  let left = 0;
  let timer: NodeJS.Timeout | undefined;
  const sayRest = (): void => {
    timer = undefined;
    if (left > 0) line(paint.dim(`… and ${left} more`));
    left = 0;
  };
  return (end: AttemptEnd): void => {
    if (now() - since >= 1_000) {
      since = now();
      shown = 0;
    }
    if (shown >= mostASecond) {
      left += 1;
      timer ??= setTimeout(sayRest, 1_000).unref();
      return;
    }
    shown += 1;
    line(describe(end, paint));
  };
}

function describe({ task, run, attempt, outcome, took }: AttemptEnd, paint: Screen['paint']): string {
  const facts = `${task} ${paint.dim(run)}`;
  const time = paint.dim(`${duration(took)}${attempt > 1 ? `, attempt ${attempt}` : ''}`);
  if (outcome.kind === 'completed') return `${paint.green('done')}    ${facts} ${time}`;
  if (outcome.kind === 'canceled') return `${paint.yellow('cancel')}  ${facts} ${time}`;
  if (outcome.kind === 'unknownTask') return `${paint.yellow('unknown')} ${facts}`;
  const error = `${outcome.error.name}: ${outcome.error.message.split('\n', 1)[0] ?? ''}`;
  if (outcome.kind === 'retry') {
    return `${paint.yellow('retry')}   ${facts} ${time} ${paint.dim(`again in ${duration(outcome.delayMs)}`)} ${error}`;
  }
  return `${paint.red('failed')}  ${facts} ${time} ${outcome.status} ${error}`;
}
