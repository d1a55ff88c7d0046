import { expect, test } from 'vitest';
import { screenOn } from '../screen.ts';
import { runLines, type RunLinesOptions } from './run-lines.ts';

function showing(options: RunLinesOptions = {}, now?: () => number) {
  const written: string[] = [];
  const screen = screenOn({ write: (text: string | Uint8Array) => written.push(String(text)) > 0 });
  const show = runLines(screen, options, now);
  const say = (...messages: string[]) =>
    show(messages.map((message) => ({ run: 'run_1', attempt: 1, at: 0, level: 'info', message })));
  return { written, show, say };
}

test('a line contains level, run, text and properties', () => {
  const { written, show } = showing();
  show([
    { run: 'run_1', attempt: 1, at: 0, level: 'info', message: 'Saying hello', properties: '{"name":"Ada"}' },
    { run: 'run_2', attempt: 2, at: 0, level: 'error', message: 'one\ntwo' },
  ]);
  expect(written).toEqual([
    'info    run_1 Saying hello {"name":"Ada"}\n',
    'error   run_2 one\n        two\n',
  ]);
});

test('makes escape sequences visible, except with --raw', () => {
  const { written, say } = showing();
  say('\u001b[2Jgone\rover');
  expect(written).toEqual(['info    run_1 ␛[2Jgone␍over\n']);
  const raw = showing({ raw: true });
  raw.say('\u001b[2Jgone');
  expect(raw.written).toEqual(['\u001b[2Jgone\n']);
});

test('prints a line of JSON for each with --json', () => {
  const { written, show } = showing({ json: true });
  const entry = { run: 'run_1', attempt: 1, level: 'log', message: '\u001b[2J' } as const;
  show([
    { ...entry, at: 0, properties: '{"a":1}' },
    { ...entry, at: 0, properties: '{"cut' },
  ]);
  const at = '1970-01-01T00:00:00.000Z';
  expect(written.map((line) => JSON.parse(line))).toEqual([
    { type: 'log', ...entry, at, properties: { a: 1 } },
    { type: 'log', ...entry, at, properties: '{"cut' },
  ]);
  expect(written.join('')).not.toContain('\u001b');
});

test('shows two hundred lines a second and counts the rest', async () => {
  let at = 0;
  const { written, say } = showing({}, () => at);
  say(...Array.from({ length: 450 }, String));
  expect(written).toHaveLength(200);
  await expect.poll(() => written.at(-1)).toBe('… and 250 more lines of runs, which `millrace logs` shows\n');
  at = 1_000;
  say('again');
  expect(written).toHaveLength(202);
});
