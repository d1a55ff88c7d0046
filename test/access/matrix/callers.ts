import { attemptAudience, attemptMarker } from '@millrace/contract/runner';
import { environmentHeaders, fromPage, logIn } from '../browser/tab.ts';
import type { Installation } from '../installation.ts';
import { actions, meets, presets, taskPresets, types } from './rules.ts';
import type { Role, Row } from './table.ts';
import type { World } from './world.ts';

/** 401 or 403, or that the caller has access. */
export type Verdict = 'may' | 401 | 403;

export interface Caller {
  readonly name: string;
  readonly credential: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** A personal access token of its user, where the credential is of another kind. */
  readonly accessToken?: string;
  /** A public token of which only the scopes matter. */
  readonly isScopedToken?: boolean;
  /** Its permissions in the table, for objects of its own environment. */
  verdict(row: Row): Verdict;
}

const roles: readonly Role[] = ['viewer', 'member', 'admin', 'owner'];

const nobody = (row: Row): Verdict => (row.needs === 'open' ? 'may' : 401);

const holder =
  (kind: 'key' | 'token', scopes: readonly string[], world: World) =>
  (row: Row): Verdict => {
    if (row.needs === 'open') return 'may';
    if (row[kind] !== true) return row[kind] === 403 ? 403 : 401;
    return meets(scopes, row.needs, world) ? 'may' : 403;
  };

const user =
  (role: Role) =>
  (row: Row): Verdict => {
    if (row.needs === 'open' || row.role === 'own') return 'may';
    if (row.role === null) return 401;
    if (row.role === 'installation') return role === 'owner' ? 'may' : 403;
    return roles.indexOf(role) >= roles.indexOf(row.role) ? 'may' : 403;
  };

const browser =
  (role: Role) =>
  ({ browser: least }: Row): Verdict => {
    if (least === 'open' || least === 'own') return 'may';
    if (least === 'closed') return 403;
    if (least === 'installation') return role === 'owner' ? 'may' : 403;
    return roles.indexOf(role) >= roles.indexOf(least) ? 'may' : 403;
  };

/** A browser in which the user is logged in, whose page shows prod. */
async function browserOf(installed: Installation, role: Role, accessToken: string): Promise<Caller> {
  const { cookie } = await logIn(installed, { accessToken });
  return {
    name: `an ${role}'s browser`,
    credential: '',
    accessToken,
    headers: { ...fromPage, cookie, ...environmentHeaders(installed.projectRef, 'prod') },
    verdict: browser(role),
  };
}

/** Every caller with a valid credential, in the environment of `world`. */
export async function known(installed: Installation, world: World, foreign: World): Promise<Caller[]> {
  const { ask, keys, sign, publicIdOf, userWith, token, projectRef } = installed;
  const key = async (preset: string, tasks?: readonly string[]): Promise<string> => {
    const created = await ask(`POST /api/v1/projects/${projectRef}/prod/keys`, {
      body: { name: preset, preset, ...(tasks && { tasks }) },
    });
    if (created.status !== 200) throw new Error(JSON.stringify(created.body));
    return created.body.key as string;
  };
  const callers: Caller[] = [
    { name: 'a full key', credential: keys.prod, verdict: holder('key', ['admin'], world) },
    {
      name: 'a full key with the marker tr_ and an unused branch header',
      credential: keys.prod.replace('svc_', 'tr_'),
      headers: { 'x-trigger-branch': 'feature' },
      verdict: holder('key', ['admin'], world),
    },
  ];
  const work = holder('key', ['admin'], world);
  callers.push({
    name: 'a run',
    credential: await ofAttempt(installed, world),
    verdict: (row) => (row.key && !row.inRuns ? 403 : work(row)),
  });
  for (const [preset, scopes] of Object.entries(presets)) {
    if (preset === 'full') continue;
    callers.push({
      name: `a ${preset} key`,
      credential: await key(preset),
      verdict: holder('key', scopes, world),
    });
  }
  const failing = world.task.replace('mail', 'tick');
  for (const [preset, scopesOf] of Object.entries(taskPresets)) {
    for (const [which, task] of [
      ['this task', world.task],
      ['another task', failing],
    ] as const) {
      callers.push({
        name: `a ${preset} key for ${which}`,
        credential: await key(preset, [task]),
        verdict: holder('key', scopesOf(task), world),
      });
    }
  }
  callers.push({ name: "an owner's token", credential: token, verdict: user('owner') });
  callers.push(await browserOf(installed, 'owner', token));
  for (const role of ['admin', 'member', 'viewer'] as const) {
    const { token: credential } = await userWith(role);
    callers.push({ name: `a ${role}'s token`, credential, verdict: user(role) });
    // A browser of another user: the matrix lets each of them leave.
    callers.push(await browserOf(installed, role, (await userWith(role)).token));
  }
  const sub = await publicIdOf('prod');
  const signed = (...scopes: readonly string[]): Caller => ({
    name: `a public token with [${scopes.join(', ')}]`,
    credential: sign(keys.prod, { sub, scopes }),
    isScopedToken: scopes.length > 0 && !['admin', '*:all'].includes(scopes[0] ?? ''),
    verdict: holder('token', scopes, world),
  });
  callers.push(signed(), signed('admin'));
  for (const action of actions) {
    for (const type of types) callers.push(signed(`${action}:${type}`));
  }
  const pinned = (of: World): string[] => [
    `tasks:${of.task}`,
    `runs:${of.runId}`,
    `tags:${of.tag}`,
    `batch:${of.batchId}`,
    `sessions:${of.session}`,
    `sessions:${of.externalId}`,
    `errors:${of.errorId}`,
    `waitpoints:${of.waitpointId}`,
  ];
  for (const action of ['read', 'write', 'trigger', 'batchTrigger', 'admin']) {
    for (const thing of [...pinned(world), ...pinned(foreign)]) callers.push(signed(`${action}:${thing}`));
  }
  return callers;
}

/** The credential of an executing run's code; its runner has the full key. */
async function ofAttempt({ ask, keys, sql, sign, publicIdOf }: Installation, world: World): Promise<string> {
  const { id: run } = (await ask(`POST /api/v1/tasks/${world.task}/trigger`, { key: keys.prod, body: {} }))
    .body as { id: string };
  const [lease] = await sql<{ fence: string }[]>`
    with taken as (delete from queued where run_id = ${run}),
    runner as (
      insert into runners (id, env, host, pid, connection, connected_at, expires_at)
      select 'runner_of_matrix', env, 'test', 1, 'none', now(), now() + interval '1 hour' from runs where id = ${run}
      returning id)
    insert into leases (env, run_id, runner_id, queue_id, key, version_id, attempt, leased_at)
    select r.env, r.id, (select id from runner), r.queue_id, '', c.version_id, 1, now()
      from runs r join current_versions c on c.env = r.env where r.id = ${run}
    returning fence`;
  const claims = { sub: await publicIdOf('prod'), aud: attemptAudience, run, fence: Number(lease?.fence) };
  return attemptMarker + sign(keys.prod, claims);
}

/** Every caller without a valid credential. */
export async function unknown(installed: Installation): Promise<Caller[]> {
  const { keys, keyWith, sign, publicIdOf, sql, token, ask } = installed;
  const sub = await publicIdOf('prod');
  const [expired, revoked] = [await keyWith(['admin']), await keyWith(['admin'])];
  await sql`update secret_keys set expires_at = now() - interval '1 second' where last_four = ${expired.slice(-4)}`;
  await sql`update secret_keys set revoked_at = now() where last_four = ${revoked.slice(-4)}`;
  const created = await ask('POST /api/v1/tokens', { key: token, body: { name: 'revoked' } });
  await ask(`POST /api/v1/tokens/${created.body.id}/revoke`, { key: token });
  const now = Math.floor(Date.now() / 1_000);
  const scopes = ['admin'];
  const attempt = { sub, aud: attemptAudience, run: 'run_none', fence: 1 };
  return Object.entries({
    nothing: '',
    'an empty bearer': 'Bearer ',
    garbage: 'garbage',
    'an unknown key': 'svc_prod_sk_000000000000000000000000',
    'a truncated key': keys.prod.slice(0, -1),
    'a key with another marker': keys.prod.replace('svc_', 'sk_'),
    'a key for another environment by its text': keys.prod.replace('prod', 'stg'),
    'an expired key': expired,
    'a revoked key': revoked,
    'a revoked personal access token': created.body.token as string,
    'a truncated personal access token': token.slice(0, -1),
    'an expired public token': sign(keys.prod, { sub, scopes, exp: now - 1 }),
    'a public token from the future': sign(keys.prod, { sub, scopes, iat: now + 3_600 }),
    'a public token with alg none': sign(keys.prod, { sub, scopes }, { alg: 'none' }),
    'a public token signed by another key': sign('svc_prod_sk_x', { sub, scopes }),
    'a public token signed by the key of another environment': sign(keys.stg, { sub, scopes }),
    'a public token for another audience': sign(keys.prod, { sub, scopes, aud: 'https://example.com' }),
    'a public token of another issuer': sign(keys.prod, { sub, scopes, iss: 'https://example.com' }),
    'a run without a lease': attemptMarker + sign(keys.prod, attempt),
    'a public token in the form of a run': attemptMarker + sign(keys.prod, { sub, scopes }),
    'a run in the form of a public token': sign(keys.prod, attempt),
    'a public token of no environment': sign(keys.prod, { sub: 'x', scopes }),
    'the text of a browser session': (await logIn(installed)).cookie.split('=')[1] ?? '',
  }).map(([name, credential]) => ({ name, credential, verdict: nobody }));
}

/** Keys of other environments of the project. They have access only to objects of the whole project. */
export function ofOtherEnvironments({ keys }: Installation): Caller[] {
  return [
    {
      name: 'a preview key without a branch',
      credential: keys.preview,
      // Its purpose is branches: it may create and archive them (contract 5.9), and request its project before one exists.
      verdict: (row) =>
        row.route.includes('/branches') || row.route === 'GET /api/v1/whoami' ? 'may' : nobody(row),
    },
  ];
}
