import { expect, test, vi } from 'vitest';
import { createAuthenticate, type Authenticate, type Credentials } from './authenticate.ts';
import { newPersonalAccessToken, newSecretKey } from './keys.ts';
import { isUser } from './principal.ts';
import { createInstallation } from './testing/installation.ts';

// A rejection may be synchronous or asynchronous; a caller that awaits sees no difference.
const ask = async (authenticate: Authenticate, credentials: Credentials) => authenticate(credentials);

test('a secret key identifies its environment, with either prefix and with or without Bearer', async () => {
  const { authenticate, credentials, key, publicIdOf } = await createInstallation();
  const stg = key('stg');
  const environment = {
    publicId: await publicIdOf('stg'),
    kind: 'stg',
    branch: null,
    projectRef: credentials.projectRef,
  };
  for (const authorization of [
    `Bearer ${stg}`,
    stg,
    `bearer ${stg.replace('svc_', 'tr_')}`,
    `Bearer  ${stg}`,
  ]) {
    expect(await ask(authenticate, { authorization })).toMatchObject({
      kind: 'secretKey',
      scopes: ['admin'],
      environment,
    });
  }
});

test('a personal access token identifies its user', async () => {
  const { authenticate, credentials, sql } = await createInstallation();
  const [user] = await sql<{ id: string }[]>`select id from users`;
  for (const text of [
    credentials.personalAccessToken,
    credentials.personalAccessToken?.replace('svc_', 'tr_'),
  ]) {
    expect(await ask(authenticate, { authorization: `Bearer ${text}` })).toMatchObject({
      kind: 'personalAccessToken',
      userId: user?.id,
    });
  }
});

test('rejects a missing, malformed or unknown credential with 401 and does not echo it', async () => {
  const { authenticate, key } = await createInstallation();
  const dev = key('dev');
  for (const authorization of [
    undefined,
    '',
    'Bearer',
    'Bearer ',
    'Basic dXNlcjpwYXNz',
    newSecretKey('dev'),
    newPersonalAccessToken(),
    dev.slice(0, -1),
    `${dev}0`,
    dev.replace('svc_', 'sk_'),
    dev.replace('_dev_', '_prod_'),
    dev.toUpperCase(),
    `${dev}\u0000`,
    'x'.repeat(10_000),
  ]) {
    const refusal = await ask(authenticate, { authorization }).then(
      () => undefined,
      (error: unknown) => error,
    );
    expect(refusal).toMatchObject({ name: 'Problem', status: 401 });
    expect((refusal as Error).message).not.toContain(dev.slice(12, 30));
  }
});

test('rejects revoked and expired credentials', async () => {
  const { authenticate, credentials, key, sql } = await createInstallation();
  await sql`update secret_keys set revoked_at = now() where digest in
    (select digest from secret_keys k join environments e on e.id = k.environment_id where e.kind = 'dev')`;
  await sql`update secret_keys set expires_at = now() - interval '1 ms' where digest in
    (select digest from secret_keys k join environments e on e.id = k.environment_id where e.kind = 'prod')`;
  await sql`update personal_access_tokens set revoked_at = now()`;
  for (const authorization of [key('dev'), key('prod'), credentials.personalAccessToken ?? '']) {
    await expect(ask(authenticate, { authorization })).rejects.toMatchObject({ status: 401 });
  }
  await expect(ask(authenticate, { authorization: key('stg') })).resolves.toMatchObject({
    kind: 'secretKey',
  });
});

test('a revocation takes effect within a second, even for a constantly used key', async () => {
  const { authenticate, key, sql } = await createInstallation();
  const authorization = key('dev');
  await ask(authenticate, { authorization });
  await sql`update secret_keys set revoked_at = now()`;
  const revokedAt = performance.now();
  await vi.waitUntil(
    () =>
      ask(authenticate, { authorization }).then(
        () => false,
        () => true,
      ),
    { timeout: 5_000, interval: 5 },
  );
  // A second, plus a margin for a busy machine.
  expect(performance.now() - revokedAt).toBeLessThan(3_000);
});

test('a cached key expires on time', async () => {
  const { authenticate, key, sql } = await createInstallation();
  const authorization = key('dev');
  await sql`update secret_keys set expires_at = now() + interval '700 ms'`;
  await ask(authenticate, { authorization });
  await vi.waitUntil(async () => (await sql`select from secret_keys where expires_at > now()`).length === 0, {
    timeout: 5_000,
    interval: 5,
  });
  await expect(ask(authenticate, { authorization })).rejects.toMatchObject({ status: 401 });
});

test('an invalid credential is looked up once per second, and a new key works immediately', async () => {
  const { authenticate, addKey, sql, ring } = await createInstallation();
  let queries = 0;
  const counting = Object.assign((...tag: Parameters<typeof sql>) => {
    if (tag[0].join('').includes('from secret_keys')) queries += 1;
    return sql(...tag);
  }, sql);
  const other = createAuthenticate({ sql: counting, ring });
  const { id, text } = await addKey('dev', ['admin']);
  const [{ digest } = { digest: null }] = await sql`select digest from secret_keys where id = ${id}`;
  // As if it had been used before it was stored.
  await sql`update secret_keys set digest = ${Buffer.alloc(32)} where id = ${id}`;
  for (let n = 0; n < 50; n += 1) {
    const triggerBranch = `b${n}`;
    await expect(ask(other, { authorization: text, triggerBranch })).rejects.toMatchObject({ status: 401 });
  }
  expect(queries).toBeLessThan(10);
  await sql`update secret_keys set digest = ${digest} where id = ${id}`;
  await expect(ask(authenticate, { authorization: text })).resolves.toMatchObject({ credentialId: id });
  await vi.waitUntil(
    () =>
      ask(other, { authorization: text }).then(
        () => true,
        () => false,
      ),
    { timeout: 10_000, interval: 5 },
  );
});

test('a cached caller is identified without the database', async () => {
  const { authenticate, key } = await createInstallation();
  const authorization = `Bearer ${key('dev')}`;
  const first = await ask(authenticate, { authorization });
  // Not a promise: the result is synchronous.
  expect(authenticate({ authorization })).toBe(first);
});

test('the last use is recorded at most once every five minutes', async () => {
  const { authenticate, key, sql, ring } = await createInstallation();
  const lastUse = async () => {
    const [row] = await sql<{ at: Date | null }[]>`
      select last_used_at as at from secret_keys k join environments e on e.id = k.environment_id where e.kind = 'dev'`;
    return row?.at ?? null;
  };
  expect(await lastUse()).toBeNull();
  await ask(authenticate, { authorization: key('dev') });
  await vi.waitUntil(async () => (await lastUse()) !== null);
  await sql`update secret_keys set last_used_at = now() - interval '4 minutes'`;
  const cache = await lastUse();
  await ask(createAuthenticate({ sql, ring }), { authorization: key('dev') });
  expect(await lastUse()).toEqual(cache);
  await sql`update secret_keys set last_used_at = now() - interval '6 minutes'`;
  const old = await lastUse();
  await ask(createAuthenticate({ sql, ring }), { authorization: key('dev') });
  await vi.waitUntil(async () => Number(await lastUse()) > Number(old));
});

test('a branch header selects the branch for preview and dev keys and is ignored for staging and production', async () => {
  const { authenticate, addBranch, key, publicIdOf, sql } = await createInstallation();
  const preview = await addBranch('preview', 'feat/x');
  const sentinel = await addBranch('preview', 'default');
  const dev = await addBranch('dev', 'feat/x');
  const target = (authorization: string, branches: Omit<Credentials, 'authorization'>) =>
    ask(authenticate, { authorization, ...branches }).then(
      (principal) => (isUser(principal) ? '' : principal.environment.publicId),
      (error: { status: number }) => error.status,
    );
  const branched = { triggerBranch: 'feat/x' };

  expect(await target(key('preview'), branched)).toBe(preview);
  expect(await target(key('preview'), { serviceBranch: 'refs/heads/feat/x' })).toBe(preview);
  expect(await target(key('preview'), { serviceBranch: 'feat/x', triggerBranch: 'other' })).toBe(preview);
  expect(await target(key('preview'), { serviceBranch: '', triggerBranch: 'feat/x' })).toBe(preview);
  expect(await target(key('preview'), { triggerBranch: 'default' })).toBe(sentinel);
  expect(await target(key('preview'), {})).toBe(401);
  expect(await target(key('preview'), { triggerBranch: 'unknown' })).toBe(401);
  expect(await target(key('preview'), { triggerBranch: 'refs/notes/x' })).toBe(401);

  expect(await target(key('dev'), branched)).toBe(dev);
  expect(await target(key('dev'), {})).toBe(await publicIdOf('dev'));
  expect(await target(key('dev'), { triggerBranch: 'default' })).toBe(await publicIdOf('dev'));
  expect(await target(key('dev'), { triggerBranch: 'unknown' })).toBe(401);

  for (const kind of ['stg', 'prod'] as const) {
    expect(await target(key(kind), branched)).toBe(await publicIdOf(kind));
    expect(await target(key(kind), { serviceBranch: 'unknown' })).toBe(await publicIdOf(kind));
  }

  await sql`update environments set archived_at = now() where public_id = ${preview}`;
  expect(await target(`Bearer ${key('preview')}`, branched)).toBe(401);
});
