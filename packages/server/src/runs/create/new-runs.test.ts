import { expect, test } from 'vitest';
import { testEngine } from '../testing/engine.ts';
import { newRunColumns } from './new-runs.ts';

/** The attributes that `identify_runs` sets. */
const outcome = new Set(['target_id', 'is_cached', 'refused', 'wait_until']);

test('the type new_run, the parameters of its function and the columns of runs agree', async () => {
  const { sql } = await testEngine();
  const attributes = await sql<{ name: string; type: string; ofRuns: string | null }[]>`
    select a.attname as name, format_type(a.atttypid, a.atttypmod) as type, format_type(r.atttypid, r.atttypmod) as "ofRuns"
      from pg_attribute a
      left join pg_attribute r on r.attrelid = 'runs'::regclass and r.attname = a.attname and not r.attisdropped
     where a.attrelid = (select typrelid from pg_type where typname = 'new_run') and not a.attisdropped order by a.attnum`;
  const parameters = await sql<{ name: string; type: string }[]>`
    select x.name, format_type(x.type, null) as type
      from pg_proc p cross join lateral unnest(p.proargnames, p.proargtypes::oid[]) with ordinality as x (name, type, ix)
     where p.proname = 'new_run' order by x.ix`;
  const inputs = attributes.filter(({ name }) => !outcome.has(name));
  expect(parameters).toEqual(inputs.map(({ name, type }) => ({ name, type })));
  const sent = Object.values(newRunColumns).map(({ name }) => name);
  expect(sent.toSorted()).toEqual(inputs.map(({ name }) => name).toSorted());
  for (const { name, type, ofRuns } of attributes) expect(ofRuns ?? type, name).toBe(type);
});
