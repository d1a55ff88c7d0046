import { expect, onTestFinished, test } from 'vitest';
import { testDatabase } from '../../../../test/support/database.ts';
import { masterKeyOf } from '../auth/seal.ts';
import { connect } from '../db/connect.ts';
import { ensureTenancy } from './bootstrap.ts';

const masterKey = masterKeyOf(Buffer.alloc(32, 1));

async function emptyDatabase() {
  const { connection, drop } = await testDatabase();
  const sql = connect(connection, { name: 'test' });
  onTestFinished(async () => {
    await sql.end();
    await drop();
  });
  return { sql, connection };
}

test('the first start creates a project with four environments and returns each secret', async () => {
  const { sql } = await emptyDatabase();
  const created = await ensureTenancy(sql, { masterKey, reveal: false });
  expect(created).toEqual({
    projectRef: expect.stringMatching(/^proj_[a-z]{20}$/) as string,
    personalAccessToken: expect.stringMatching(/^svc_pat_/) as string,
    environments: {
      dev: { secretKey: expect.stringMatching(/^svc_dev_sk_/) as string },
      stg: { secretKey: expect.stringMatching(/^svc_stg_sk_/) as string },
      prod: { secretKey: expect.stringMatching(/^svc_prod_sk_/) as string },
      preview: { secretKey: expect.stringMatching(/^svc_preview_sk_/) as string },
    },
  });
  const keys = await sql`
    select name, scopes, last_four from secret_keys k join environments e on e.id = k.environment_id
    where e.kind = 'dev'`;
  expect([...keys]).toEqual([
    { name: 'default', scopes: ['admin'], last_four: created?.environments.dev.secretKey?.slice(-4) },
  ]);
  expect([...(await sql`select role from memberships`)]).toEqual([{ role: 'owner' }]);
});

test('a later start returns them again only on request', async () => {
  const { sql } = await emptyDatabase();
  const created = await ensureTenancy(sql, { masterKey, reveal: true });
  expect(await ensureTenancy(sql, { masterKey, reveal: false })).toBeNull();
  expect(await ensureTenancy(sql, { masterKey, reveal: true })).toEqual(created);
  await sql`update secret_keys set revoked_at = now() where name = 'default' and id in
    (select k.id from secret_keys k join environments e on e.id = k.environment_id where e.kind = 'prod')`;
  await sql`update personal_access_tokens set revoked_at = now()`;
  const later = await ensureTenancy(sql, { masterKey, reveal: true });
  expect(later).toMatchObject({
    personalAccessToken: null,
    environments: { prod: { secretKey: null }, dev: created?.environments.dev },
  });
});

test('processes that start at the same time create one project, and one of them returns the secrets', async () => {
  const { connection } = await emptyDatabase();
  const pools = Array.from({ length: 6 }, () => connect(connection, { name: 'test', max: 1 }));
  try {
    const results = await Promise.all(pools.map((sql) => ensureTenancy(sql, { masterKey, reveal: false })));
    expect(results.filter((credentials) => credentials !== null)).toHaveLength(1);
    expect([...(await pools[0]!`select count(*)::int as projects from projects`)]).toEqual([{ projects: 1 }]);
  } finally {
    await Promise.all(pools.map((sql) => sql.end()));
  }
});

test('a different master key is rejected before any write, and the database contains no secrets in plain text', async () => {
  const { sql } = await emptyDatabase();
  const created = await ensureTenancy(sql, { masterKey, reveal: false });
  const rows = async () =>
    JSON.stringify(
      await sql`select k::text as row from secret_keys k union all select p::text from personal_access_tokens p
      union all select m::text from master_key_check m order by 1`,
    );
  const before = await rows();
  const other = masterKeyOf(Buffer.alloc(32, 2));
  await expect(ensureTenancy(sql, { masterKey: other, reveal: true })).rejects.toMatchObject({
    name: 'DatabaseRefused',
    message: expect.stringContaining('MILLRACE_MASTER_KEY') as string,
  });
  expect(await rows()).toBe(before);
  const secrets = [
    created?.personalAccessToken,
    ...Object.values(created?.environments ?? {}).map((each) => each.secretKey),
  ];
  for (const secret of secrets) {
    const text = secret ?? '';
    expect(text.length).toBeGreaterThan(30);
    expect(before).not.toContain(text);
    expect(before).not.toContain(Buffer.from(text).toString('hex'));
  }
});
