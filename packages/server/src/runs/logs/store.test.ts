import type { LogLine } from '@millrace/contract/runner';
import { expect, test } from 'vitest';
import { propertiesOf } from './line.ts';
import { readLines } from './read.ts';
import { maxLineCharacters } from './fit.ts';
import { createStoreLines } from './store.ts';
import { eventsOf, maxEvents } from '../complete/outcome.ts';
import { testEngine } from '../testing/engine.ts';

async function withLines(lines: readonly Partial<LogLine>[]) {
  const t = await testEngine();
  await t.register('talk');
  const { id } = await t.trigger('talk');
  const line = { run: id, attempt: 1, at: Date.now(), level: 'info', message: 'said' } as const;
  const store = createStoreLines(t.engine, t.redactor);
  const { stored: written } = await store({
    env: t.environment.id,
    lines: lines.map((own) => ({ ...line, ...own })),
  });
  await written;
  return { t, id, stored: (await readLines(t.sql, t.environment.id, id, { limit: 5_000 })).lines };
}

test('a truncated line contains the number of omitted characters, even if the SDK truncated it', async () => {
  const whole = 'x'.repeat(maxLineCharacters);
  const cutBySdk = `${whole}… (34464 more characters)`;
  const { stored } = await withLines([
    { message: whole },
    { message: cutBySdk },
    { message: `${whole}${'y'.repeat(1_000)}` },
  ]);
  expect(stored.map(({ message }) => message)).toEqual([whole, cutBySdk, `${whole}… (1000 more characters)`]);
});

test('oversized or invalid properties lose neither the line nor its page', async () => {
  const long = JSON.stringify({ text: 'x'.repeat(maxLineCharacters) });
  const cutBySdk = { cut: `${'"'.repeat(maxLineCharacters)}… (7 more characters)` };
  const { t, id, stored } = await withLines([
    { properties: '{"a":1}' },
    { properties: JSON.stringify(cutBySdk) },
    { properties: long },
    { properties: '{"a":' },
    { properties: '[1]' },
  ]);
  const [plain, unchanged, cut, broken, list] = stored.map(propertiesOf);
  expect(plain).toEqual({ a: 1 });
  expect(unchanged).toEqual(cutBySdk);
  const max = maxLineCharacters;
  expect(cut).toEqual({ cut: `${long.slice(0, max)}… (${long.length - max} more characters)` });
  expect([broken, list]).toEqual([{ $omitted: 'not JSON' }, { $omitted: 'not JSON' }]);
  expect((await eventsOf(t.engine, t.environment.id, id)).events).toHaveLength(5);
});

test('the latest lines of a run are read in arrival order', async () => {
  const { t, id } = await withLines(Array.from({ length: 5 }, (_, n) => ({ message: `line ${n}` })));
  const latest = await readLines(t.sql, t.environment.id, id, { limit: 2, isLatest: true });
  expect(latest.lines.map(({ message }) => message)).toEqual(['line 3', 'line 4']);
  expect(latest.next).toBeUndefined();
});

test('a truncated event list notes that more lines follow', async () => {
  const { t, id } = await withLines(Array.from({ length: maxEvents + 1 }, () => ({})));
  const { events } = await eventsOf(t.engine, t.environment.id, id);
  expect(events).toHaveLength(maxEvents + 1);
  expect(events.at(-2)?.message).toBe('said');
  expect(events.at(-1)).toMatchObject({
    level: 'warn',
    message: `… more lines follow: this list is limited to ${maxEvents} lines. GET /api/v1/runs/${id}/logs returns all of them.`,
  });
});
