import { readFile } from 'node:fs/promises';
import { operations } from '@millrace/contract';
import { describe, expect, test } from 'vitest';
import { fromPage } from './browser/tab.ts';
import { installation, type Ask } from './installation.ts';
import { bundleOf } from '../../packages/server/src/versions/deployments/testing/bundle.ts';
import { startTestRunner } from '../../packages/server/src/notifications/testing/runner.ts';

interface Entry {
  readonly act: string;
  readonly old?: object;
  readonly new?: object;
}

/** The actions of the first test, in order. */
/** Actions of an identity provider: see oidc/leaving.test.ts. */
const byProvider = ['member.loggedOut'];

const elsewhere = [
  'key.created',
  'key.rotated',
  'key.revoked',
  'key.revealed',
  'signingKey.rotated',
  'branch.created',
  'branch.updated',
  'agent.acted',
  'branch.runsCanceled',
  'branch.archived',
  'project.updated',
  'invitation.created',
  'member.added',
  'member.updated',
  'member.removed',
  'token.created',
  'token.revoked',
  'endpoint.created',
  'endpoint.updated',
  'endpoint.secretRotated',
  'endpoint.deleted',
  'variables.changed',
];

describe('the audit log', () => {
  test('records every administrative act: actor, action, address, before and after, without secrets', async () => {
    const { ask, keys, organization, projectRef, sql, userWith } = await installation({
      notificationNetworks: ['127.0.0.0/8'],
    });
    const at = `/api/v1/projects/${projectRef}`;
    const { body: key } = await ask(`POST ${at}/prod/keys`, {
      body: { name: 'ci', preset: 'deploy-only' },
      headers: { 'user-agent': 'tests' },
    });
    const rotated = (await ask(`POST ${at}/prod/keys/${key.id}/rotate`)).body;
    await ask(`POST ${at}/prod/keys/${rotated.id}/revoke`);
    const revealed = (await ask(`GET ${at}/prod`)).body;
    await ask(`POST ${at}/prod/signing-key/rotate`);
    await ask(`POST ${at}/branches`, { body: { branch: 'b' } });
    await ask(`POST ${at}/branches`, { body: { branch: 'b', schedules: true } });
    const inBranch = { key: keys.preview, headers: { 'x-service-branch': 'b' } };
    const byAgent = { 'x-millrace-agent': 'mcp tests/1' };
    const branchAgent = { ...inBranch, headers: { ...inBranch.headers, ...byAgent } };
    const { body: triggered } = await ask('POST /api/v1/tasks/x/trigger', { ...branchAgent, body: {} });
    // A rejected request changes nothing and leaves no entry.
    expect((await ask('POST /api/v2/runs/run_none/cancel', branchAgent)).status).toBe(404);
    await ask(`POST ${at}/branches/archive`, { body: { branch: 'b', cancelRuns: true } });
    await ask(`PATCH ${at}`, { body: { name: 'New' } });
    const member = await userWith('member');
    await ask(`PATCH /api/v1/orgs/${organization}/members/${member.id}`, { body: { role: 'viewer' } });
    await ask(`DELETE /api/v1/orgs/${organization}/members/${member.id}`);
    const token = (await ask('POST /api/v1/tokens', { body: { name: 't' } })).body;
    await ask(`POST /api/v1/tokens/${token.id}/revoke`);

    const endpoints = `${at}/notifications/prod/endpoints`;
    const hook = { url: 'http://127.0.0.1:9/hooks/T0ps3cr3tp4th', types: ['run.failed'] };
    const { body: endpoint } = await ask(`POST ${endpoints}`, { body: hook });
    await ask(`PATCH ${endpoints}/${endpoint.id}`, { body: { enabled: false } });
    const { body: signed } = await ask(`POST ${endpoints}/${endpoint.id}/rotate-secret`);
    await ask(`DELETE ${endpoints}/${endpoint.id}`);
    await ask(`POST ${at}/envvars/prod`, {
      body: { name: 'TOKEN', value: 'v4lue-of-a-variable', isSecret: true },
    });

    const list = `GET /api/v1/orgs/${organization}/audit`;
    const { body } = await ask(`${list}?page[size]=100`);
    expect(body.data.map((entry: { act: string }) => entry.act).toReversed()).toEqual(elsewhere);
    const [user] = await sql<{ id: string }[]>`select id from users order by created_at limit 1`;
    const first = body.data.at(-1);
    expect(first).toMatchObject({
      act: 'key.created',
      actor: { kind: 'user', id: user?.id, credentialId: expect.stringMatching(/^pat_/) as string },
      target: key.id,
      projectRef,
      environment: 'prod',
      new: { name: 'ci', preset: 'deploy-only' },
      from: { address: '127.0.0.1', userAgent: 'tests' },
      requestId: expect.stringMatching(/^req_/) as string,
    });
    expect(body.data.find((entry: { act: string }) => entry.act === 'endpoint.updated')).toMatchObject({
      old: { host: '127.0.0.1:9', types: ['run.failed'], enabled: true },
      new: { host: '127.0.0.1:9', types: ['run.failed'], enabled: false },
    });
    expect(body.data.find((entry: { act: string }) => entry.act === 'agent.acted')).toMatchObject({
      actor: { kind: 'secretKey' },
      target: 'x',
      new: { agent: 'mcp tests/1', operation: 'triggerTask', ids: [triggered.id], branch: 'b' },
    });
    expect(body.data.find((entry: { act: string }) => entry.act === 'member.updated')).toMatchObject({
      old: { role: 'member' },
      new: { role: 'viewer' },
    });
    const text = JSON.stringify(body) + JSON.stringify(await sql`select a::text from audit_log a`);
    expect(body.data[1]).toMatchObject({ act: 'endpoint.deleted', old: { host: '127.0.0.1:9' } });
    for (const secret of ['T0ps3cr3tp4th', 'v4lue-of-a-variable']) expect(text).not.toContain(secret);
    for (const secret of [
      endpoint.secret,
      signed.secret,
      key.key,
      rotated.key,
      revealed.apiKey,
      member.token,
      token.token,
    ]) {
      expect(secret.length).toBeGreaterThan(30);
      expect(text).not.toContain(secret);
    }

    const page = (await ask(`${list}?page[size]=5`)).body;
    expect(page.data).toEqual(body.data.slice(0, 5));
    expect((await ask(`${list}?page[size]=5&page[after]=${page.pagination.next}`)).body.data).toEqual(
      body.data.slice(5, 10),
    );
    expect((await ask(`${list}?filter[act]=key.revoked`)).body.data).toHaveLength(1);
    expect((await ask(`${list}?filter[target]=${key.id}`)).body.data).toHaveLength(2);
    expect((await ask(`${list}?page[after]=x`)).status).toBe(400);
    const { token: viewer } = await userWith('viewer');
    expect((await ask(list, { key: viewer })).status).toBe(403);
  });

  test('records the actions that docs/audit.md lists, with the values before and after, and covers every operation', async () => {
    const page = await readFile(new URL('../../docs/audit.md', import.meta.url), 'utf8');
    const [recorded = '', unrecorded = ''] =
      page.split('## Recorded actions')[1]?.split('## Operations without an entry') ?? [];
    const changing = Object.values(operations).filter(({ method }) => method !== 'GET' && method !== 'HEAD');
    const named = (text: string) => new Set([...text.matchAll(/`(\w+)`/g)].map(([, name]) => name));
    const [left, none] = [named(recorded), named(unrecorded)];
    expect(changing.filter(({ id }) => left.has(id) === none.has(id)).map(({ id }) => id)).toEqual([]);
    const acts = [...recorded.matchAll(/^\| `([\w.]+)`/gm)].map(([, act]) => act);

    const { ask, keys, organization, projectRef, server, sql } = await installation();
    const ok = async (request: string, options: Ask = {}) => {
      const { status, body } = await ask(request, options);
      expect([request, body, status < 300]).toEqual([request, body, true]);
      return body;
    };
    const at = `/api/v1/projects/${projectRef}`;
    const entriesOf = async (id: string): Promise<Entry[]> =>
      (await ok(`GET /api/v1/orgs/${id}/audit?page[size]=100`)).data.toReversed();
    const entries = () => entriesOf(organization);
    const change = ({ act, old, new: now }: Entry) => [act, old, now];
    const byKey = (body?: object) => ({ key: keys.prod, body });

    const tasks = [
      {
        id: 'a',
        filePath: 'x.ts',
        exportName: 'a',
        queue: { name: 'mail', concurrencyLimit: 5, concurrency: { name: 'all', limit: 9 } },
      },
      { id: 's', filePath: 'x.ts', exportName: 's', scheduled: true },
    ];
    const register = async (hash: string, key: string) => {
      const body = { contentHash: hash.repeat(64), tasks };
      const { version: name } = await ok('POST /runner/v1/versions', { key, body });
      await ok(`POST /api/v1/deployments/${name}/promote?force=true`, { key });
      return name;
    };
    const first = await register('a', keys.prod);
    const second = await register('b', keys.prod);
    await register('b', keys.prod);
    await register('a', keys.dev);

    const queue = '/api/v1/queues/mail';
    const type = 'custom';
    for (const action of ['pause', 'pause', 'resume'])
      await ok(`POST ${queue}/pause`, byKey({ type, action }));
    for (const concurrencyLimit of [2, 2, 7])
      await ok(`POST ${queue}/concurrency/override`, byKey({ type, concurrencyLimit }));
    for (const _ of [1, 2]) await ok(`POST ${queue}/concurrency/reset`, byKey({ type }));
    const rate = { limit: 5, period: 60, burst: 5 };
    for (const rateLimit of [rate, { limit: 5, period: 60 }, null, null])
      await ok(`POST ${queue}/rate-limit/override`, byKey({ type, rateLimit }));
    for (const _ of [1, 2]) await ok(`POST ${queue}/rate-limit/reset`, byKey({ type }));
    for (const weight of [3, 3, null, null])
      await ok(`POST ${queue}/key-weight`, byKey({ type, key: 'vip', weight }));
    for (const limit of [4, 4]) await ok('POST /api/v1/shared-limits/all/override', byKey({ limit }));
    for (const _ of [1, 2]) await ok('POST /api/v1/shared-limits/all/reset', byKey());
    const noQueue = await ask('POST /api/v1/queues/none/pause', byKey({ type, action: 'pause' }));
    expect(noQueue.status).toBe(404);
    const before = await entries();
    const version = (n: number) => expect.stringMatching(new RegExp(`\\.${n}$`)) as string;
    expect(before.map(change)).toEqual([
      ['version.registered', undefined, { version: version(1), tasks: 2 }],
      ['version.promoted', undefined, { version: version(1), tasks: 2 }],
      ['version.registered', undefined, { version: version(2), tasks: 2 }],
      ['version.promoted', { version: version(1) }, { version: version(2), tasks: 2 }],
      ['queue.paused', { paused: false }, { name: 'mail', paused: true }],
      ['queue.resumed', { paused: true }, { name: 'mail', paused: false }],
      ['queue.overridden', { override: null }, { name: 'mail', override: 2 }],
      ['queue.overridden', { override: 2 }, { name: 'mail', override: 7 }],
      ['queue.overrideReset', { override: 7 }, { name: 'mail', override: null }],
      ['queue.rateLimitOverridden', { rateLimit: null }, { name: 'mail', rateLimit: rate }],
      ['queue.rateLimitOverridden', { rateLimit: rate }, { name: 'mail', rateLimit: null }],
      ['queue.rateLimitReset', { rateLimit: null }, { name: 'mail', rateLimit: null }],
      ['queue.keyWeightSet', { key: 'vip', weight: null }, { name: 'mail', key: 'vip', weight: 3 }],
      ['queue.keyWeightReset', { key: 'vip', weight: 3 }, { name: 'mail', key: 'vip', weight: null }],
      ['sharedLimit.overridden', { override: null }, { override: 4 }],
      ['sharedLimit.overrideReset', { override: 4 }, { override: null }],
    ]);
    expect(before.find(({ act }) => act === 'queue.rateLimitReset')).toMatchObject({
      actor: { kind: 'secretKey', id: expect.stringMatching(/^key_/) as string },
      target: expect.stringMatching(/^queue_\d+$/) as string,
      environment: 'prod',
      projectRef,
      from: { address: '127.0.0.1' },
    });

    await ok('PUT /api/v1/retention', byKey({ runsDays: 3 }));
    await ok('PUT /api/v1/retention', byKey({ runsDays: 3 }));
    await ok('PUT /api/v1/concurrency', byKey({ concurrencyLimit: 9 }));
    const schedule = { task: 's', cron: '0 * * * *', deduplicationKey: 'nightly' };
    const { id } = await ok('POST /api/v1/schedules', byKey(schedule));
    await ok('POST /api/v1/schedules', byKey(schedule));
    await ok(`PUT /api/v1/schedules/${id}`, byKey({ ...schedule, cron: '5 * * * *' }));
    for (const verb of ['deactivate', 'deactivate', 'activate'])
      await ok(`POST /api/v1/schedules/${id}/${verb}`, byKey());
    await ok(`DELETE /api/v1/schedules/${id}`, byKey());
    const { body, blobs } = bundleOf({});
    const deployment = await ok('POST /api/v1/deployments', byKey(body));
    for (const [blob, data] of blobs)
      await fetch(`${server.url}/api/v1/deployments/${deployment.id}/blobs/${blob}`, {
        method: 'PUT',
        headers: { authorization: `Bearer ${keys.prod}`, 'content-type': 'application/octet-stream' },
        body: data,
      });
    for (const verb of ['finalize', 'finalize', 'archive', 'archive'])
      await ok(`POST /api/v1/deployments/${deployment.id}/${verb}`, byKey());
    await startTestRunner(server.url, keys.prod, []);
    const [{ id: runner }] = (await ok('GET /api/v1/runners', byKey())).data as [{ id: string }];
    for (const draining of [true, true, false])
      await ok(`POST /api/v1/runners/${runner}/drain`, byKey({ draining }));
    await ok(`POST /api/v1/runners/${runner}/stop`, byKey());
    const runIds = Array.from({ length: 300 }, (_, n) => `run_${n}`);
    const bulk = await ok('POST /api/v1/bulk-actions', byKey({ action: 'cancel', runIds, name: 'ab' }));
    // It may have ended already; then there was nothing to stop.
    const aborted = await ask(`POST /api/v1/bulk-actions/${bulk.id}/abort`, byKey());
    const erasure = await ok('POST /api/v1/erasures', byKey({ filter: { tag: 'a' }, mode: 'delete' }));
    const stopped = await ask(`POST /api/v1/erasures/${erasure.id}/abort`, byKey());
    const rule = await ok(`POST ${at}/error-rules`, { body: { type: 'TypeError', groupKey: 'g' } });
    await ok(`PATCH ${at}/error-rules/${rule.id}`, { body: { groupKey: 'h' } });
    await ok(`DELETE ${at}/error-rules/${rule.id}`);
    const canary = 'percent=10&force=true&allowRollbacks=true';
    for (const verb of [`promote?${canary}`, `promote?${canary}`, 'abort-canary'])
      await ok(`POST /api/v1/deployments/${first}/${verb}`, byKey());
    await ok('POST /api/v1/tasks/a/trigger', byKey({ payload: 1, options: { lockToVersion: first } }));
    for (const dryRun of [true, false, false])
      await ok(`POST /api/v1/deployments/${first}/move`, byKey({ to: second, dryRun }));
    const alert = await ok(`POST ${at}/alerts/prod`, { body: { kind: 'error.new', quiet: '1h' } });
    await ok(`PATCH ${at}/alerts/prod/${alert.id}`, { body: { threshold: 2 } });
    await ok(`DELETE ${at}/alerts/prod/${alert.id}`);
    const chart = await ok(`POST ${at}/charts/prod`, {
      body: { name: 'Runs', measure: 'runs', period: '24h', form: 'line' },
    });
    await ok(`PATCH ${at}/charts/prod/${chart.id}`, { body: { name: 'All runs' } });
    await ok(`DELETE ${at}/charts/prod/${chart.id}`);
    await ok(`PUT ${at}/model-prices`, { body: { model: 'house', input: '1', output: '2.5' } });
    await ok(`DELETE ${at}/model-prices/house`);
    for (const _ of [1, 2]) await ok('POST /api/v1/run-paths', byKey({ path: 'metadata.a' }));
    await ok('DELETE /api/v1/run-paths/metadata.a', byKey());
    const after = (await entries()).slice(before.length).map(change);
    expect(after.filter(([act]) => act !== 'bulkAction.aborted' && act !== 'erasure.aborted')).toMatchObject([
      ['retention.updated', { runsDays: null }, { runsDays: 3 }],
      ['environment.limited', { concurrencyLimit: null }, { concurrencyLimit: 9 }],
      ['schedule.created', undefined, { cron: '0 * * * *', deduplicationKey: 'nightly' }],
      ['schedule.updated', { cron: '0 * * * *' }, { cron: '5 * * * *' }],
      ['schedule.deactivated', undefined, { task: 's' }],
      ['schedule.activated', undefined, { task: 's' }],
      ['schedule.deleted', { cron: '5 * * * *' }, undefined],
      ['version.uploaded', undefined, { tasks: 1, bytes: expect.any(Number) as number }],
      ['version.archived', undefined, undefined],
      ['runner.drained', undefined, { host: expect.any(String) as string }],
      ['runner.resumed', undefined, { host: expect.any(String) as string }],
      ['runner.stopped', undefined, { host: expect.any(String) as string }],
      ['bulkAction.created', undefined, { type: 'CANCEL', name: 'ab', runs: 300 }],
      ['erasure.created', undefined, { mode: 'delete', filter: { tag: ['a'] } }],
      ['errorRule.created', undefined, { groupKey: 'g' }],
      ['errorRule.updated', { groupKey: 'g' }, { groupKey: 'h' }],
      ['errorRule.deleted', { groupKey: 'h' }, undefined],
      ['version.canarySet', undefined, { version: first, percent: 10 }],
      ['version.canaryAborted', { percent: 10 }, undefined],
      ['version.runsMoved', { version: first }, { version: second, runs: 1 }],
      ['alert.created', undefined, { kind: 'error.new', threshold: 1, quiet: '1h' }],
      ['alert.updated', { threshold: 1 }, { threshold: 2 }],
      ['alert.deleted', { threshold: 2 }, undefined],
      ['chart.created', undefined, { name: 'Runs', form: 'line' }],
      ['chart.updated', { name: 'Runs' }, { name: 'All runs' }],
      ['chart.deleted', { name: 'All runs' }, undefined],
      ['modelPrice.set', undefined, { input: '1', output: '2.5' }],
      ['modelPrice.deleted', { input: '1' }, undefined],
      ['runPath.created', undefined, { path: 'metadata.a' }],
      ['runPath.deleted', { path: 'metadata.a' }, undefined],
    ]);

    const org = await ok('POST /api/v1/orgs', { body: { name: 'One' } });
    await ok(`PATCH /api/v1/orgs/${org.id}`, { body: { name: 'Two' } });
    const project = await ok(`POST /api/v1/orgs/${organization}/projects`, { body: { name: 'P' } });
    const its = `/api/v1/projects/${project.externalRef}`;
    await ok(`POST ${its}/stg/pause`);
    await ok(`POST ${its}/stg/resume`);
    await ok(`DELETE ${its}/stg?confirm=stg`);
    await ok(`DELETE ${its}?confirm=${project.externalRef}`);
    const invites = `/api/v1/orgs/${organization}/invites`;
    const invitation = await ok(`POST ${invites}`, { body: { email: 'a@b.example', role: 'viewer' } });
    await ok(`POST ${invites}/${invitation.id}/revoke`);
    const { token: link } = await ok('POST /api/v1/browser-links');
    const opened = await ok('POST /api/v1/browser-sessions', {
      key: '',
      headers: fromPage,
      body: { token: link },
    });
    for (const _ of [1, 2]) await ok(`DELETE /api/v1/browser-sessions/${opened.session.id}`);
    const email = 'owner@example.com';
    for (const password of ['correct horse battery', null])
      await ok('PUT /api/v1/password', { body: { password, email } });
    expect((await entries()).slice(-5).map(({ act }) => act)).toEqual([
      'browserLink.created',
      'browserSession.created',
      'browserSession.revoked',
      'password.set',
      'password.removed',
    ]);
    await sql`update installation set paused_at = now()`;
    await ok('POST /api/v1/resume');
    const seen = [...(await entries()), ...(await entriesOf(org.id))].map(({ act }) => act);
    if (aborted.status === 422) seen.push('bulkAction.aborted');
    if (stopped.status === 422) seen.push('erasure.aborted');
    expect(new Set([...seen, ...elsewhere, ...byProvider])).toEqual(new Set(acts));
  });
});
