import type { LogLine } from '@millrace/contract/runner';
import { expect, test } from 'vitest';
import { testEngine } from '../testing/engine.ts';
import { logIndexer } from './blocks.ts';
import type { LineFilter } from './filter.ts';
import { searchLines } from './search.ts';
import { createStoreLines } from './store.ts';

async function withLines(lines: readonly Partial<LogLine>[], isIndexed: boolean) {
  const t = await testEngine();
  await t.register('mail', 'charge');
  const runs = { mail: (await t.trigger('mail')).id, charge: (await t.trigger('charge')).id };
  const store = createStoreLines(t.engine, t.redactor);
  const at = Date.now();
  const whole = lines.map((line, n) => ({
    run: runs.mail,
    attempt: 1,
    at: at + n,
    level: 'info' as const,
    message: `line ${n}`,
    ...line,
    ...(line.run && { run: runs[line.run as 'mail'] }),
  }));
  for (let from = 0; from < whole.length; from += 2_000) {
    await (
      await store({ env: t.environment.id, lines: whole.slice(from, from + 2_000) })
    ).stored;
  }
  if (isIndexed) {
    const job = logIndexer(t.engine);
    await job.tick();
    while ((await job.tick()) === true);
    expect((await t.sql`select from log_blocks`).length).toBe(Math.floor(lines.length / 8_192));
  }
  /** All pages. */
  const search = async (filter: LineFilter, limit = 100): Promise<string[]> => {
    const messages: string[] = [];
    for (let below: number | undefined, first = true; first || below !== undefined; first = false) {
      const page = await searchLines(t.sql, t.environment.id, filter, { below, limit });
      messages.push(...page.lines.map(({ message }) => message));
      below = page.next;
    }
    return messages;
  };
  return { t, runs, at, search };
}

for (const isIndexed of [true, false]) {
  test(`lines are found by task, level, text and property, newest first, ${isIndexed ? 'with' : 'without'} blocks`, async () => {
    const many = Array.from({ length: 20_000 }, (): Partial<LogLine> => ({}));
    many[3] = { message: 'first Needle 100%', level: 'error', run: 'charge' };
    many[9_000] = {
      message: 'a needle_100%',
      properties: JSON.stringify({ customer: { id: 42 }, q: '"x"' }),
    };
    many[9_001] = { message: 'other', properties: JSON.stringify({ customer: { id: 43 }, note: 'id 42' }) };
    many[19_999] = { message: 'last NEEDLE', level: 'error' };
    const { search, at } = await withLines(many, isIndexed);
    expect(await search({ text: 'needle' })).toEqual(['last NEEDLE', 'a needle_100%', 'first Needle 100%']);
    expect(await search({ text: 'needle' }, 1)).toEqual([
      'last NEEDLE',
      'a needle_100%',
      'first Needle 100%',
    ]);
    expect(await search({ text: 'needle_' })).toEqual(['a needle_100%']);
    expect(await search({ text: '"x"' })).toEqual(['a needle_100%']);
    expect(await search({ levels: ['error'] })).toEqual(['last NEEDLE', 'first Needle 100%']);
    expect(await search({ tasks: ['charge'] })).toEqual(['first Needle 100%']);
    expect(await search({ tasks: ['charge'], levels: ['info'] })).toEqual([]);
    expect(await search({ property: 'customer.id=42' })).toEqual(['a needle_100%']);
    expect(await search({ property: 'customer.name=42' })).toEqual([]);
    expect(await search({ text: 'needle', from: new Date(at + 10_000) })).toEqual(['last NEEDLE']);
    expect(await search({ text: 'needle', to: new Date(at + 10) })).toEqual(['first Needle 100%']);
    expect(await search({ text: 'no such text' })).toEqual([]);
    const all = await search({}, 1_000);
    expect(all).toHaveLength(20_000);
    expect([all[0], all.at(-1)]).toEqual(['last NEEDLE', 'line 0']);
  });
}

test('does not find lines of other environments', async () => {
  const { t } = await withLines([{ message: 'mine' }], false);
  expect((await searchLines(t.sql, t.environment.id + 1, {}, { limit: 10 })).lines).toEqual([]);
});
