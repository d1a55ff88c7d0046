import { expect, test } from 'vitest';
import { masterKeyOf, switchMasterKey } from '../../packages/server/src/auth/seal.ts';
import { rotateMasterKey } from '../../packages/server/src/envvars/rotate-master-key.ts';
import { installation, masterKey, type Installation } from './installation.ts';

/** Everything that is stored, as text. */
async function everything({ sql }: Installation): Promise<string> {
  const tables = await sql<{ name: string }[]>`
    select quote_ident(table_name) as name from information_schema.tables
     where table_schema = current_schema() and table_type = 'BASE TABLE'`;
  const texts = await Promise.all(
    tables.map(async ({ name }) => {
      const rows = await sql.unsafe<{ row: string }[]>(`select t::text as row from ${name} t`);
      return rows.map(({ row }) => row).join('\n');
    }),
  );
  return texts.join('\n');
}

test('the database stores no callback address, and nothing that reveals the first personal access token', async () => {
  const installed = await installation();
  const { ask, keys, sql, token } = installed;
  const key = keys.prod;
  const make = async (body: object = {}) =>
    (await ask('POST /api/v1/waitpoints/tokens', { key, body })).body as { id: string; url: string };
  const [first, second] = [await make({ idempotencyKey: 'k' }), await make()];
  const secretOf = ({ url }: { url: string }) => url.split('/').at(-1) ?? '';
  expect(secretOf(first).length).toBeGreaterThanOrEqual(40);
  expect(secretOf(first)).not.toBe(secretOf(second));
  const stored = await everything(installed);
  for (const secret of [secretOf(first), secretOf(second), token]) {
    expect(stored).not.toContain(secret);
    expect(stored).not.toContain(Buffer.from(secret).toString('hex'));
  }
  expect(await sql`select from personal_access_tokens where sealed is not null`).toHaveLength(0);

  // Where it was shown before it is still shown, and again to a caller with the same idempotency key.
  expect((await make({ idempotencyKey: 'k' })).url).toBe(first.url);
  expect((await ask(`GET /api/v1/waitpoints/tokens/${first.id}`, { key })).body.url).toBe(first.url);
  const listed = (await ask('GET /api/v1/waitpoints/tokens', { key })).body.data as { url: string }[];
  expect(listed.map(({ url }) => url).toSorted()).toEqual([first.url, second.url].toSorted());
  const post = (url: string) => ask(`POST ${new URL(url).pathname}`, { key: '', body: { a: 1 } });
  expect((await post(first.url.replace(secretOf(first), secretOf(second)))).status).toBe(404);
  expect((await post(first.url)).status).toBe(200);
});

test('a callback address survives a change of the master key', async () => {
  const own = { ...masterKey };
  const installed = await installation({ masterKey: own });
  const { ask, keys, sql } = installed;
  const { body } = await ask('POST /api/v1/waitpoints/tokens', { key: keys.prod, body: {} });
  switchMasterKey(own, masterKeyOf(Buffer.alloc(32, 9)));
  await rotateMasterKey(sql, own);
  delete (own as { previous?: unknown }).previous;
  expect((await ask(`GET /api/v1/waitpoints/tokens/${body.id}`, { key: keys.prod })).body.url).toBe(body.url);
  expect((await ask(`POST ${new URL(body.url as string).pathname}`, { key: '', body: {} })).status).toBe(200);
});
