/*
 * Authentication from a warm cache: processor time per request, by type of credential.
 *
 *   node bench/auth.ts
 *
 * On an embedded PostgreSQL in a temporary folder. The goal: at most 20 µs.
 */
import { createHmac } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createAuthenticate } from '../packages/server/src/auth/authenticate.ts';
import { createSigningKeyRing } from '../packages/server/src/auth/signing-keys.ts';
import { connect, createLog, loadMasterKey, startServer } from '../packages/server/src/index.ts';
import { startPostgres } from '../packages/postgres/src/cluster/index.ts';

const calls = 50_000;
const rounds = 9;

const folder = await mkdtemp(join(tmpdir(), 'millrace-bench-'));
const postgres = await startPostgres({ dataDir: join(folder, 'data') });
const masterKey = await loadMasterKey({ file: join(folder, 'master.key') });
const server = await startServer({
  database: postgres.connection,
  port: 0,
  masterKey,
  log: createLog(process.stderr, 'warn'),
});
const { credentials } = server;
const key = credentials?.environments.prod.secretKey ?? '';
const preview = credentials?.environments.preview.secretKey ?? '';
const pat = credentials?.personalAccessToken ?? '';
const sql = connect(postgres.connection, { name: 'bench' });

const post = (path: string, body: unknown) =>
  fetch(server.url + path, {
    method: 'POST',
    headers: { authorization: `Bearer ${pat}` },
    body: JSON.stringify(body),
  });
await post(`/api/v1/projects/${credentials?.projectRef}/branches`, { branch: 'feat/x' });
const [env] = await sql<{ id: string }[]>`select public_id as id from environments where kind = 'prod'`;
await server.close();

const base64 = (value: unknown): string => Buffer.from(JSON.stringify(value)).toString('base64url');
const now = Math.floor(Date.now() / 1_000);
const publicToken = (scopes: number): string => {
  const claims = {
    sub: env?.id,
    pub: true,
    iss: 'https://id.trigger.dev',
    aud: 'https://api.trigger.dev',
    iat: now,
    exp: now + 3_600,
    scopes: Array.from({ length: scopes }, (_, at) => `read:runs:run_${at}`),
  };
  const signed = `${base64({ alg: 'HS256' })}.${base64(claims)}`;
  return `${signed}.${createHmac('sha256', key).update(signed).digest('base64url')}`;
};

const authenticate = createAuthenticate({ sql, ring: createSigningKeyRing(sql, masterKey) });
const cases = {
  'secret key': { authorization: `Bearer ${key}` },
  'secret key and branch header': { authorization: `Bearer ${preview}`, serviceBranch: 'feat/x' },
  'personal access token': { authorization: `Bearer ${pat}` },
  'public token, 2 scopes': { authorization: `Bearer ${publicToken(2)}` },
  'public token, 1,000 scopes': { authorization: `Bearer ${publicToken(1_000)}` },
};

for (const [name, credential] of Object.entries(cases)) {
  const times: number[] = [];
  for (let round = 0; round < rounds; round++) {
    await authenticate(credential);
    const start = process.cpuUsage();
    for (let call = 0; call < calls; call++) await authenticate(credential);
    const { user, system } = process.cpuUsage(start);
    times.push((user + system) / calls);
  }
  times.sort((a, other) => a - other);
  console.log(
    `${name}: median ${(times[rounds >> 1] ?? 0).toFixed(2)} µs, most ${(times.at(-1) ?? 0).toFixed(2)} µs`,
  );
}

await sql.end();
await postgres.stop();
await rm(folder, { recursive: true, force: true });
