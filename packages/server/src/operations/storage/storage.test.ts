import { expect, test } from 'vitest';
import { testEngine } from '../../runs/testing/engine.ts';
import { classOf } from './classes.ts';
import { readStorage } from './read.ts';

test('every table is in one class, and the classes add up to the total', async () => {
  const { sql } = await testEngine();
  await sql`
    insert into run_logs (env, run_id, attempt, at, level, message)
    select 1, 'run_1', 1, now(), 'info', repeat('x', 1000) || n from generate_series(1, 2000) n`;
  await sql`analyze run_logs`;
  const { data, totalBytes } = await readStorage(sql);
  const [tables] = await sql<{ bytes: string; count: number }[]>`
    select sum(pg_total_relation_size(oid))::text as bytes, count(*)::int as count from pg_class
     where relkind = 'r' and relnamespace = current_schema()::regnamespace`;
  expect(totalBytes).toBe(Number(tables?.bytes));
  expect(data.reduce((all, item) => all + item.tables.length, 0)).toBe(tables?.count);
  expect(data[0]).toMatchObject({ class: 'logs', rowsEstimate: 2000 });
  expect(data[0]?.bytes).toBeGreaterThan(100_000);
});

test('a table is classified by its name or a prefix of it', () => {
  expect(classOf('error_weeks')).toBe('errors');
  expect(classOf('runs')).toBe('runs');
  expect(classOf('batch_cached')).toBe('batches');
  expect(classOf('organizations')).toBe('other');
});
