import { expect, test } from 'vitest';
import type { AttemptEnd } from '../../../../runner/src/runner/options.ts';
import { screenOn } from '../screen.ts';
import { attemptLines } from './attempt-lines.ts';

const error = { type: 'BUILT_IN_ERROR', name: 'TypeError', message: 'no\nmore', stackTrace: '' } as const;

function showing(now = () => 0) {
  const lines: string[] = [];
  const { paint } = screenOn({ write: () => true });
  const show = attemptLines({ line: (text = '') => void lines.push(text), paint }, now);
  const end = (outcome: AttemptEnd['outcome'], attempt = 1) =>
    show({ run: 'run_1', task: 'mail', attempt, outcome, took: 1_240 });
  return { lines, end };
}

test('prints task, run, time and the first line of the error', () => {
  const { lines, end } = showing();
  end({ kind: 'completed', output: null, outputType: 'application/json' });
  end({ kind: 'retry', delayMs: 500, error });
  end({ kind: 'failed', status: 'FAILED', error }, 2);
  expect(lines).toEqual([
    'done    mail run_1 1.2s',
    'retry   mail run_1 1.2s again in 500ms TypeError: no',
    'failed  mail run_1 1.2s, attempt 2 FAILED TypeError: no',
  ]);
});

test('shows twenty lines a second and counts the rest', async () => {
  let at = 0;
  const { lines, end } = showing(() => at);
  for (let i = 0; i < 50; i += 1) end({ kind: 'canceled' });
  expect(lines).toHaveLength(20);
  await expect.poll(() => lines.at(-1), { timeout: 3_000 }).toBe('… and 30 more');
  at = 1_000;
  end({ kind: 'canceled' });
  expect(lines).toHaveLength(22);
});
