import fc from 'fast-check';
import { expect, onTestFinished, test } from 'vitest';
import { testDatabase } from '../../../../test/support/database.ts';
import { texts } from './columns.ts';
import { connect } from './connect.ts';
import { numRuns } from '../../../../test/support/long.ts';

test('texts are read back unchanged, with any content and in any number', async () => {
  const { connection, drop } = await testDatabase();
  const sql = connect(connection, { name: 'test' });
  onTestFinished(() => sql.end().then(drop));
  const text = fc.oneof(
    fc.constantFrom('', '\u001e', '\u001f', '{"a":1}'),
    fc.string({ maxLength: 5 }).filter((value) => !value.includes('\0')),
  );
  const list = fc.array(fc.option(text, { nil: null }), { maxLength: 4 });
  await fc.assert(
    fc.asyncProperty(list, async (sent) => {
      const [row] = await sql<{ got: unknown }[]>`select ${texts(sql, sent, (value) => value)} as got`;
      expect(row?.got).toEqual(sent);
    }),
    { numRuns: numRuns(200), examples: [[['']], [[]], [['', '']], [[null]]] },
  );
});
