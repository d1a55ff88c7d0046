import { expect, onTestFinished, test } from 'vitest';
import { connect } from '../../packages/server/src/db/connect.ts';
import { installSqlViews } from '../../packages/server/src/db/sql-views.ts';
import { testDatabase } from '../support/database.ts';
import { sqlViewsPage } from './page.ts';

test('docs/sql-views.md has the columns of the installed views', async () => {
  const { connection, drop } = await testDatabase();
  const sql = connect(connection, { name: 'test', max: 1 });
  onTestFinished(() => sql.end().then(drop));
  await sql.begin(installSqlViews);
  await expect(sqlViewsPage(sql)).resolves.toMatchFileSnapshot('../../docs/sql-views.md');
});
