import { expect, test } from 'vitest';
import { startProject } from '../support/project.ts';
import { testServer, type TestServer } from '../support/server.ts';

const tasks = `
import { auth, batch, envvars, idempotencyKeys, MillraceClient, metadata, queues, runs, schedules, sessions, streams, tags, task, tasks, wait } from '@millrace/sdk';

export const child = task({ id: 'child', run: async (payload: { n: number }) => payload.n * 2 });
export const everyday = schedules.task({ id: 'everyday', run: async () => undefined });

let early: unknown;
try { await runs.list(); } catch (error) { early = error; }
export const outside = task({ id: 'outside', run: async () => ({ name: (early as Error).name, message: (early as Error).message }) });

const shared = new MillraceClient({});

export const all = task({
  id: 'all',
  run: async (payload: { other: string; reader: string }, { ctx }) => {
    const told: Record<string, unknown> = {};
    const lone = await child.trigger({ n: 1 });
    told.lone = typeof lone.publicAccessToken;
    told.together = (await Promise.all([child.trigger({ n: 2 }), tasks.trigger('child', { n: 3 })])).map((one) => typeof one.publicAccessToken);
    told.waited = await child.triggerAndWait({ n: 4 }).unwrap();
    const many = await batch.triggerAndWait<typeof child>([{ id: 'child', payload: { n: 5 } }, { id: 'child', payload: { n: 6 } }]);
    told.batch = many.runs.map((run) => run.ok && run.output);
    told.batchToken = typeof (await batch.trigger<typeof child>([{ id: 'child', payload: { n: 7 } }])).publicAccessToken;
    told.large = (await child.triggerAndWait({ n: 8, filler: 'x'.repeat(200_000) } as never)).ok;
    told.polled = (await runs.poll(lone.id, { pollIntervalMs: 50 })).output;
    told.listed = (await runs.list({ taskIdentifier: 'child' })).data.length;
    told.replayed = typeof (await runs.replay(lone.id)).id;
    const later = await child.trigger({ n: 9 }, { delay: '1h' });
    told.reason = (await runs.reason(later.id)).code ?? 'told';
    await runs.reschedule(later.id, { delay: '2h' });
    await runs.cancel(later.id);
    for await (const run of runs.subscribeToRun(lone.id)) { told.subscribed = run.status; break; }
    const schedule = await schedules.create({ task: 'everyday', cron: '0 0 * * *', deduplicationKey: 'one' });
    await schedules.deactivate(schedule.id);
    told.schedule = (await schedules.retrieve(schedule.id)).active;
    await schedules.del(schedule.id);
    await envvars.create({ name: 'MADE_BY_A_RUN', value: 'yes' } as never).catch(() => undefined);
    told.variables = (await envvars.list()).length;
    told.queue = (await queues.retrieve({ type: 'task', name: 'child' })).running;
    await tags.add('tagged');
    metadata.set('step', 1);
    await metadata.flush();
    await streams.append('words', 'one');
    const session = await sessions.start({ type: 'chat', externalId: 'talk', taskIdentifier: 'child', triggerConfig: { basePayload: { n: 1 } } });
    const talk = sessions.open('talk');
    await talk.out.append('hello');
    await talk.in.send({ text: 'from within' });
    told.session = (await sessions.retrieve(session.id)).externalId;
    await sessions.close('talk');
    const token = await wait.createToken({ timeout: '1h' });
    await wait.completeToken(token, { done: true });
    told.token = await wait.forToken<{ done: boolean }>(token).unwrap();
    await wait.for({ seconds: 1 });
    told.afterWait = (await runs.retrieve(ctx.run.id)).status;
    told.public = await auth.createPublicToken({ scopes: { read: { runs: ctx.run.id } }, expirationTime: '1h' });
    told.trigger = await auth.createTriggerPublicToken('child');
    told.key = await idempotencyKeys.create('a');
    told.explicit = (await auth.withAuth({ secretKey: payload.other }, () => runs.list())).data.length;
    told.refused = await auth.withAuth({ secretKey: payload.reader }, () => child.trigger({ n: 1 })).catch((error: Error) => error.name);
    told.client = (await shared.runs.list({ limit: 1 } as never)).data.length > 0;
    told.everything = await auth.createPublicToken({ scopes: ['admin'] }).catch((error: Error & { body: unknown }) => error.body);
    metadata.set('last', true);
    void child.trigger({ n: 100 }, { idempotencyKey: 'left behind' });
    return told;
  },
});
`;

// The test checks the content of the reply.
// oxlint-disable-next-line typescript/no-explicit-any
async function ended(server: TestServer, id: string, within = 60_000): Promise<any> {
  // oxlint-disable-next-line typescript/no-explicit-any
  let run: any;
  await expect
    .poll(
      async () => {
        run = (await server.ask(`/api/v3/runs/${id}`)).body;
        return run.isCompleted;
      },
      { timeout: within, interval: 100 },
    )
    .toBe(true);
  return run;
}

test('a task calls the whole API with a credential of its run', { timeout: 120_000 }, async () => {
  const server = await testServer();
  await startProject(server, { 'tasks/all.ts': tasks });
  const keys = `/api/v1/projects/${server.projectRef}/prod/keys`;
  const created = await server.ask(keys, {
    method: 'POST',
    key: server.personalAccessToken,
    body: { name: 'reader', preset: 'observer' },
  });
  const trigger = (task: string, payload: unknown) =>
    server.ask(`/api/v1/tasks/${task}/trigger`, { method: 'POST', body: { payload } });
  const { id } = (await trigger('all', { other: server.keys.stg, reader: created.body.key })).body;
  const run = await ended(server, id);
  expect(run.error).toBeUndefined();
  const { public: readsRun, trigger: triggers, key, ...rest } = run.output;
  expect(rest).toMatchObject({
    lone: 'string',
    together: ['string', 'string'],
    waited: 8,
    batch: [10, 12],
    batchToken: 'string',
    large: true,
    polled: 2,
    replayed: 'string',
    schedule: false,
    token: { done: true },
    session: 'talk',
    afterWait: 'EXECUTING',
    explicit: 0,
    refused: 'PermissionDeniedError',
    client: true,
    everything: { code: 'scopes_exceed_key_access', deniedScopes: ['admin'] },
  });
  expect(typeof key).toBe('string');
  expect(run.metadata).toMatchObject({ step: 1, last: true });
  expect(run.tags).toEqual(['tagged']);
  // Tokens that it created stay valid without it.
  expect((await server.ask(`/api/v3/runs/${id}`, { key: readsRun })).status).toBe(200);
  const byToken = await server.ask('/api/v1/tasks/child/trigger', {
    method: 'POST',
    key: triggers,
    body: { payload: { n: 1 } },
  });
  expect(byToken.status).toBe(200);
  // Calls that it left in progress were completed before it ended.
  const children = (await server.ask('/api/v1/runs?filter[taskIdentifier]=child&page[size]=100')).body.data;
  expect(children.some((child: { idempotencyKey?: string }) => child.idempotencyKey !== undefined)).toBe(
    true,
  );
  const early = (await trigger('outside', null)).body.id;
  expect((await ended(server, early)).output).toEqual({
    name: 'ConfigurationError',
    message: expect.stringMatching(/has no MILLRACE_SECRET_KEY.*in the code of a run/),
  });
});
