import { expect, test } from 'vitest';
import { lockWaiters } from '../../../../test/support/locks.ts';
import { masterKeyOf, seal } from '../auth/seal.ts';
import { createLog } from '../logger.ts';
import { startServer } from '../server.ts';
import { variableContext } from './sealed-value.ts';
import { rotateMasterKey } from './rotate-master-key.ts';
import { dump, masterKey, startVariableServer } from './testing/variable-server.ts';

const log = createLog({ write() {} });
const other = masterKeyOf(Buffer.alloc(32, 8));
const values = { A: 'a value to keep', B: 'another value to keep' };
const body = { variables: values, isSecret: true };

test('values are stored sealed, each with its own nonce and the id of its key', async () => {
  const { call, sql } = await startVariableServer();
  await call('POST', 'envvars/prod/import', { body: { variables: { A: 'same value', B: 'same value' } } });
  const rows = await sql<{ sealed: Buffer }[]>`select sealed from variables order by name`;
  const parts = (at: number, to: number) => rows.map(({ sealed }) => sealed.subarray(at, to).toString('hex'));
  expect(new Set(parts(5, 17)).size).toBe(2);
  expect(new Set(parts(33, 99)).size).toBe(2);
  expect(new Set(parts(1, 5))).toEqual(new Set([masterKey.id.toString('hex')]));
  expect(await dump(sql)).not.toContain('same value');
  expect(await dump(sql)).not.toContain(Buffer.from('same value').toString('hex'));
});

test('a sealed value moved to another name or environment cannot be decrypted', async () => {
  const { call, sql } = await startVariableServer();
  await call('POST', 'envvars/prod/import', { body: { variables: values } });
  await sql`update variables v set sealed = o.sealed from variables o where v.name = 'A' and o.name = 'B'`;
  expect((await call('GET', 'envvars/prod/A')).status).toBe(500);
  const [row] = await sql<{ env: number }[]>`select env from variables limit 1`;
  await sql`update variables set sealed = ${seal(masterKey, 'x', variableContext((row?.env ?? 0) + 1, 'B'))} where name = 'B'`;
  expect((await call('GET', 'envvars/prod/B')).status).toBe(500);
});

test('with a wrong master key the server does not start, reports the reason, and destroys nothing', async () => {
  const { call, sql, database, server } = await startVariableServer();
  await call('POST', 'envvars/prod/import', { body });
  // Its background jobs write as well.
  await server.close();
  const before = await dump(sql);
  await expect(startServer({ database, port: 0, masterKey: other, log })).rejects.toMatchObject({
    name: 'DatabaseRefused',
    message: expect.stringMatching(/not the master key of this database.*MILLRACE_MASTER_KEY/) as string,
  });
  expect(await dump(sql)).toBe(before);
  const again = await startServer({ database, port: 0, masterKey, log, reveal: true });
  const key = again.credentials?.environments.prod.secretKey ?? '';
  const reply = await fetch(`${again.url}/api/v1/projects/${again.credentials?.projectRef}/envvars`, {
    headers: { authorization: `Bearer ${key}` },
  });
  expect(await reply.json()).toEqual({ variables: values, revision: 1 });
  await again.close();
});

test('the master key is rotated while servers run, and the old one decrypts nothing afterwards', async () => {
  const { call, sql, database, server } = await startVariableServer({
    masterKey: { ...other, previous: masterKey },
  });
  expect(server.url).toBeTruthy();
  // Sealed by a server that only knew the old key.
  const many = Object.fromEntries(Array.from({ length: 1_200 }, (_, at) => [`N${at}`, `value ${at}`]));
  const before = await startServer({
    database,
    port: 0,
    masterKey: { ...masterKey, previous: other },
    log,
    reveal: true,
  });
  const prod = before.credentials?.environments.prod.secretKey ?? '';
  const imported = await fetch(
    `${before.url}/api/v1/projects/${before.credentials?.projectRef}/envvars/prod/import`,
    {
      method: 'POST',
      headers: { authorization: `Bearer ${prod}` },
      body: JSON.stringify({ variables: { ...many, ...values } }),
    },
  );
  expect(imported.status).toBe(200);
  await before.close();

  const sealedWithOld = `x01${masterKey.id.toString('hex')}`;
  expect(await dump(sql)).toContain(sealedWithOld);
  let rotating = true;
  const seen: number[] = [];
  const reading = (async () => {
    while (rotating) {
      const [read, written] = await Promise.all([
        call('GET', 'envvars'),
        call('POST', 'envvars/prod', { body: { name: 'DURING', value: String(seen.length) } }),
      ]);
      seen.push(read.status, written.status);
      expect(read.body).toMatchObject({ variables: { ...many, ...values } });
    }
  })();
  const { resealed } = await rotateMasterKey(sql, { ...other, previous: masterKey });
  rotating = false;
  await reading;
  expect(resealed).toBeGreaterThan(2 * 1_200);
  expect(new Set(seen)).toEqual(new Set([200]));

  expect(await dump(sql)).not.toContain(sealedWithOld);
  await expect(startServer({ database, port: 0, masterKey, log })).rejects.toMatchObject({
    name: 'DatabaseRefused',
  });
  const after = await startServer({ database, port: 0, masterKey: other, log });
  await after.close();
  expect((await rotateMasterKey(sql, { ...other, previous: masterKey })).resealed).toBe(0);
});

test('a rollback that began before the rotation leaves nothing sealed with the old key', async () => {
  const { call, key, ref, sql, database } = await startVariableServer({
    masterKey: { ...other, previous: masterKey },
  });
  const before = await startServer({
    database,
    port: 0,
    masterKey: { ...masterKey, previous: other },
    log,
  });
  const beforehand = (method: string, path: string, sent?: object) =>
    fetch(`${before.url}/api/v1/projects/${ref}/envvars/prod${path}`, {
      method,
      headers: { authorization: `Bearer ${key('prod')}` },
      ...(sent && { body: JSON.stringify(sent) }),
    });
  expect((await beforehand('POST', '', { name: 'A', value: 'kept' })).status).toBe(200);
  expect((await beforehand('DELETE', '/A')).status).toBe(200);
  await before.close();

  const { restoring } = await sql.begin(async (tx) => {
    // The transaction that restores the variable blocks here, with the sealed value.
    await tx`
      insert into variables (env, name, sealed, is_secret, revision, updated_at)
      select env, 'A', '', false, 0, now() from variable_revisions limit 1`;
    const rollback = call('POST', 'envvar-revisions/prod/rollback', { body: { revision: 1 } });
    const waiting = () => lockWaiters(sql);
    await expect.poll(waiting, { timeout: 20_000 }).toHaveLength(1);
    await rotateMasterKey(sql, { ...other, previous: masterKey });
    await tx`delete from variables where name = 'A'`;
    return { restoring: rollback };
  });
  expect((await restoring).status).toBe(200);
  expect(await dump(sql)).not.toContain(`x01${masterKey.id.toString('hex')}`);
  expect((await call('GET', 'envvars/prod/A')).body).toMatchObject({ value: 'kept' });
});

test('a rotation between keys of another database changes nothing', async () => {
  const { sql, call, server } = await startVariableServer();
  await call('POST', 'envvars/prod/import', { body });
  await server.close();
  const before = await dump(sql);
  const third = masterKeyOf(Buffer.alloc(32, 7));
  await expect(rotateMasterKey(sql, { ...third, previous: other })).rejects.toMatchObject({
    name: 'UnsealError',
  });
  expect(await dump(sql)).toBe(before);
});
