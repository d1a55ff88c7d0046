import { expect, test } from 'vitest';
import { Secrets } from './secrets.ts';

const error = { type: 'BUILT_IN_ERROR', name: 'Error', message: '', stackTrace: '' } as const;

test('output of a runner contains no current or former secret of its executors in any encoding', () => {
  const output: unknown[] = [];
  const secrets = new Secrets();
  const events = secrets.hiddenFrom({
    onOutput: (_, text) => output.push(text),
    onAttemptEnd: (end) => output.push(end),
    onProblem: (problem) => output.push(problem),
  });
  const value = 'sk_live_4f9aQz71xN?&/é';
  const variables = { KEY: value, MODE: 'production-like' };
  secrets.learn(variables, ['KEY']);
  secrets.learn({ KEY: 'another-one-by-now' }, ['KEY']);
  events.onOutput?.(
    'stdout',
    `with ${value} and ${Buffer.from(`u:${value}`).toString('base64')} production-like\n`,
  );
  events.onOutput?.('stderr', `https://x.test/?${new URLSearchParams({ value })} another-one-by-now\n`);
  events.onAttemptEnd?.({
    run: 'run_1',
    task: 'a',
    attempt: 1,
    took: 1,
    outcome: { kind: 'failed', status: 'FAILED', error: { ...error, message: `no ${value}` } },
  });
  const text = JSON.stringify(output);
  for (const part of ['sk_live', '4f9aQz', 'another-one', 'c2tfbGl2']) expect(text).not.toContain(part);
  expect(text.match(/<redacted>/g)).toHaveLength(5);
  expect(text).toContain('production-like');
});

test('does not change output without secrets', () => {
  const output: unknown[] = [];
  const end = { run: 'r', task: 'a', attempt: 1, took: 1, outcome: { kind: 'canceled' } } as const;
  const secrets = new Secrets();
  secrets.learn({ A: 'a value of some length' });
  const events = secrets.hiddenFrom({
    onAttemptEnd: (ended) => output.push(ended),
    onOutput: (_, text) => output.push(text),
  });
  events.onAttemptEnd?.(end);
  events.onOutput?.('stdout', 'a value of some length');
  expect(output[0]).toEqual(end);
  expect(output[1]).toBe('a value of some length');
});

test('nor any text in the format of a Millrace key, known or not', () => {
  const output: unknown[] = [];
  const events = new Secrets().hiddenFrom({
    onOutput: (_, text) => output.push(text),
    onAttemptEnd: (end) => output.push(end),
    onRunLog: (lines) => output.push(...lines),
    onProblem: (problem) => output.push(problem),
  });
  const key = `svc_prod_sk_${'aB3'.repeat(8)}`;
  events.onOutput?.('stdout', `{ MILLRACE_SECRET_KEY: '${key}' }\n`);
  const outcome = { kind: 'failed', status: 'FAILED', error: { ...error, message: key } } as const;
  events.onAttemptEnd?.({ run: 'run_1', task: 'a', attempt: 1, took: 1, outcome });
  const properties = JSON.stringify({ key });
  events.onRunLog?.([{ run: 'run_1', attempt: 1, at: 1, level: 'log', message: key, properties }]);
  events.onProblem?.({ file: 'a.ts', line: null, column: null, message: key });
  expect(JSON.stringify(output)).not.toContain('aB3aB3');
  expect(JSON.stringify(output).match(/<redacted>/g)).toHaveLength(5);
});
