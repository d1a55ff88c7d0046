import { maxJsonLevels, operations, type OperationDeclaration } from '@millrace/contract';
import type { SerializedError } from '@millrace/contract/runner';
import { openApiDocument } from '@millrace/contract/openapi';
import { describe, expect, test } from 'vitest';
import { startTestRunner } from '../../packages/server/src/notifications/testing/runner.ts';
import { followEvents } from '../sessions/session-server.ts';
import { installation, type Installation } from './installation.ts';
import { wholeSampleOf, type Schema } from './sample.ts';
import { promote } from '../support/promote.ts';

const nested = (levels: number): string => '{"a":'.repeat(levels - 1) + '{}' + '}'.repeat(levels - 1);
const fits = nested(maxJsonLevels);
const deep = nested(maxJsonLevels + 1);
const refusal = 'nested more than 1000 levels deep';
const mark = { $omitted: refusal };

describe('JSON that is nested too deeply', () => {
  test('is rejected by the name of its field, as a value and as text, and one level less is accepted', async () => {
    const { ask, keys, sql, projectRef, token } = await installation();
    const key = keys.prod;
    const { body: run } = await ask('POST /api/v1/tasks/send/trigger', { key, body: {} });
    const session = (name: string, more: string) =>
      `{"type":"chat","taskIdentifier":"send","externalId":"${name}","triggerConfig":{"basePayload":{}}${more}}`;
    await ask('POST /api/v1/sessions', { key, body: session('there', '') });
    const waitpoint = async () => {
      const { body } = await ask('POST /api/v1/waitpoints/tokens', { key, body: {} });
      return body as { id: string; url: string };
    };
    const [byKey, byUrl] = [await waitpoint(), await waitpoint()];
    const text = (json: string): string => JSON.stringify(json);
    const trigger = 'POST /api/v1/tasks/send/trigger';
    const calls: [request: string, body: (json: string) => string, field: string, by?: string][] = [
      [trigger, (json) => `{"payload":${json}}`, 'payload'],
      [
        trigger,
        (json) => `{"payload":${text(json)},"options":{"payloadType":"application/super+json"}}`,
        'payload',
      ],
      [trigger, (json) => `{"options":{"metadata":${json}}}`, 'options.metadata'],
      [
        trigger,
        (json) => `{"options":{"metadata":${text(json)},"metadataType":"application/json"}}`,
        'options.metadata',
      ],
      [`POST /api/v1/runs/${run.id}/replay`, (json) => `{"payload":${json}}`, 'payload'],
      ['PUT /api/v1/runs/RUN/metadata', (json) => `{"metadata":${json}}`, 'metadata'],
      [
        'PUT /api/v1/runs/RUN/metadata',
        (json) => `{"operations":[{"type":"set","key":"k","value":${json.slice(5, -1)}}]}`,
        'metadata',
      ],
      ['POST /api/v1/events', (json) => `{"id":"${Math.random()}","event":${json}}`, 'event'],
      [`POST /api/v1/waitpoints/tokens/${byKey.id}/complete`, (json) => `{"data":${json}}`, 'data'],
      [`POST ${new URL(byUrl.url).pathname}`, (json) => json, 'The body'],
      [
        `POST /api/v1/projects/${projectRef}/branches`,
        (json) => `{"branch":"b","git":${json}}`,
        'git',
        token,
      ],
    ];
    for (const [request, bodyOf, field, by] of calls) {
      const at = request.replace('RUN', run.id as string);
      const refused = await ask(at, { key: by ?? key, body: bodyOf(deep) });
      expect([at, refused.status, refused.body.error]).toEqual([
        at,
        400,
        expect.stringMatching(new RegExp(`^${field}.*${refusal}`)),
      ]);
      const taken = await ask(at, { key: by ?? key, body: bodyOf(fits) });
      expect([at, field, taken.status]).toEqual([at, field, 200]);
    }
    // Bodies of sessions have at most 32 KB.
    for (const [name, more] of [
      ['new', `,"metadata":${deep}`],
      ['there', `,"metadata":{},"tags":[]`],
    ] as const) {
      const body = session(name, more).replace(
        '"basePayload":{}',
        name === 'there' ? `"basePayload":${deep}` : '"basePayload":{}',
      );
      const refused = await ask('POST /api/v1/sessions', { key, body });
      expect([name, refused.status, refused.body.error]).toEqual([
        name,
        400,
        expect.stringContaining(refusal),
      ]);
    }
    expect((await ask('PATCH /api/v1/sessions/there', { key, body: `{"metadata":${deep}}` })).status).toBe(
      400,
    );
    expect((await ask('PATCH /api/v1/sessions/there', { key, body: `{"metadata":${fits}}` })).status).toBe(
      200,
    );
    const upload = async (content: string) => {
      const { body } = await ask('PUT /api/v2/packets/p.json', { key });
      return fetch(body.presignedUrl as string, {
        method: 'PUT',
        headers: { 'content-type': 'application/json' },
        body: content,
      });
    };
    const packet = await upload(deep);
    expect([packet.status, await packet.text()]).toEqual([400, expect.stringContaining(refusal)]);
    expect(await sql`select from packets`).toHaveLength(0);
    expect((await upload(fits)).status).toBe(200);
  });

  test('never causes a server error, at any place in any body', { timeout: 120_000 }, async () => {
    const { ask, keys, organization, projectRef, token, logged } = await installation();
    const { paths } = openApiDocument(operations) as {
      paths: Readonly<
        Record<
          string,
          Readonly<
            Record<
              string,
              { requestBody?: { content: Readonly<Record<string, { readonly schema: Schema }>> } }
            >
          >
        >
      >;
    };
    const known: Readonly<Record<string, string>> = { projectRef, organization, env: 'prod' };
    const declarations: readonly OperationDeclaration[] = Object.values(operations);
    const wrong: unknown[] = [];
    let requests = 0;
    for (const { id, method, path, access, bodyStream, bodyText } of declarations) {
      const described = paths[path.replaceAll(/:(\w+)/g, '{$1}')]?.[method.toLowerCase()];
      const schema = described?.requestBody?.content['application/json']?.schema;
      if (!schema || bodyStream || bodyText) continue;
      const sample = wholeSampleOf(schema, 'HERE');
      for (const levels of [5_000, 100_000]) {
        // Replaces each member of the body, of any type.
        for (const name of Object.keys(sample as object)) {
          const body = JSON.stringify({ ...(sample as object), [name]: 'DEEP' }).replace(
            '"DEEP"',
            nested(levels),
          );
          const here = path.replaceAll(/:(\w+)/g, (_, part: string) => known[part] ?? 'x');
          const answer = await ask(`${method} ${here}`, { key: access.secretKey ? keys.prod : token, body });
          requests += 1;
          // Parameters of the path are read before the body.
          const isNamed =
            answer.status !== 400 ||
            [name, 'Params Error'].some((start) => String(answer.body.error).startsWith(start));
          if (![400, 401, 403, 413].includes(answer.status) || !isNamed)
            wrong.push([id, name, levels, answer.status, answer.body.error]);
        }
      }
    }
    expect(wrong).toEqual([]);
    expect(requests).toBeGreaterThan(150);
    expect(logged.filter((line) => line.includes('request.failed'))).toEqual([]);
  });

  test('as the output or the error of a run ends the run with an error that names the cause', async () => {
    const { ask, keys, server } = await installation();
    const version = await ask('POST /runner/v1/versions', {
      key: keys.prod,
      body: { contentHash: 'a'.repeat(64), tasks: [{ id: 'send', filePath: 'send.ts' }] },
    });
    await promote(server.url, keys.prod);
    await startTestRunner(server.url, keys.prod, [version.body.version as string], ({ payload }) =>
      payload === '"output"'
        ? { kind: 'completed', output: nested(5_000), outputType: 'application/json' }
        : {
            kind: 'failed',
            status: 'FAILED',
            error: {
              type: 'BUILT_IN_ERROR',
              name: 'E',
              message: 'm',
              stackTrace: '',
              // As deep as the frame limit allows.
              causes: [chain(10)],
            },
          },
    );
    const outcomeOf = async (payload: string) => {
      const { body } = await ask('POST /api/v1/tasks/send/trigger', { key: keys.prod, body: { payload } });
      const read = () => ask(`GET /api/v3/runs/${body.id}`, { key: keys.prod });
      await expect.poll(async () => (await read()).body.isCompleted).toBe(true);
      return (await read()).body;
    };
    expect(await outcomeOf('output')).toMatchObject({
      status: 'FAILED',
      error: { name: 'OutputUnserializableError', message: expect.stringContaining(refusal) as string },
    });
    const failed = await outcomeOf('causes');
    expect(failed).toMatchObject({ status: 'FAILED', error: { name: 'E', message: 'm' } });
    expect(failed.error.causes).toHaveLength(3);
  });
});

/** An error with that many nested causes. */
const chain = (length: number): SerializedError =>
  Array.from({ length: length - 1 }).reduce<SerializedError>(
    (cause) => Object.assign({}, plain, { causes: [cause] }),
    plain,
  );

const plain: SerializedError = { type: 'BUILT_IN_ERROR', name: 'Inner', message: 'i', stackTrace: '' };

describe('a row that exists already and cannot be shown', () => {
  async function stored({ ask, keys, sql }: Installation): Promise<{ deepRun: string; fine: string }> {
    const key = keys.prod;
    const trigger = async (options: object) =>
      (await ask('POST /api/v1/tasks/send/trigger', { key, body: { options } })).body.id as string;
    const deepRun = await trigger({ tags: ['t'], metadata: { a: 1 } });
    const fine = await trigger({ tags: ['t'], metadata: { fine: true }, parentRunId: deepRun });
    await sql`update runs set metadata = ${nested(5_000)}, payload = ${nested(5_000)}, updated_at = now() where id = ${deepRun}`;
    await sql`
      insert into run_logs (env, run_id, attempt, at, level, message, properties)
      select env, id, 1, now(), 'info', m, p from runs,
             (values ('cut', '{"a":"b…'), ('deep', ${nested(5_000)}), ('fine', '{"a":1}')) as v (m, p) where id = ${deepRun}`;
    return { deepRun, fine };
  }

  test('does not affect its page, its relations or its own reply', async () => {
    const installed = await installation();
    const { ask, keys, sql } = installed;
    const { deepRun, fine } = await stored(installed);
    const get = async (path: string) => (await ask(`GET ${path}`, { key: keys.prod })).body;
    const byId = Object.fromEntries(
      (await get('/api/v1/runs')).data.map((run: { id: string; metadata: unknown }) => [
        run.id,
        run.metadata,
      ]),
    );
    expect(byId).toEqual({ [deepRun]: mark, [fine]: { fine: true } });
    expect(await get(`/api/v3/runs/${deepRun}`)).toMatchObject({ metadata: mark, payload: mark });
    expect((await get(`/api/v3/runs/${fine}`)).relatedRuns.parent).toMatchObject({ metadata: mark });
    expect((await get(`/api/v1/runs/${deepRun}/metadata`)).metadata).toEqual(mark);
    const lines = [mark, { $omitted: 'not JSON' }, { a: 1 }];
    const propertiesIn = async (path: string, list: string) =>
      (await get(path))[list]
        .toSorted((a: { message: string }, b: { message: string }) => (a.message < b.message ? -1 : 1))
        .map(({ properties }: { properties: unknown }) => properties);
    expect(await propertiesIn(`/api/v1/runs/${deepRun}/logs`, 'lines')).toEqual([
      lines[1],
      lines[0],
      lines[2],
    ]);
    expect(await propertiesIn(`/api/v1/runs/${deepRun}/events`, 'events')).toEqual([
      lines[1],
      lines[0],
      lines[2],
    ]);
    for (const externalId of ['deep', 'fine']) {
      const body = { type: 'c', taskIdentifier: 's', externalId, triggerConfig: { basePayload: {} } };
      await ask('POST /api/v1/sessions', { key: keys.prod, body });
    }
    await sql`
      update sessions set metadata = ${nested(5_000)},
             trigger_config = jsonb_build_object('basePayload', ${nested(3_000)}::text::jsonb) where external_id = 'deep'`;
    const sessions = (await get('/api/v1/sessions')).data as { externalId: string; metadata: unknown }[];
    expect(Object.fromEntries(sessions.map(({ externalId, metadata }) => [externalId, metadata]))).toEqual({
      deep: mark,
      fine: null,
    });
    expect((await ask('GET /api/v1/sessions/deep', { key: keys.prod })).status).toBe(200);
  });

  test('does not affect live streams', async () => {
    const installed = await installation();
    const { ask, keys, server } = installed;
    const { deepRun, fine } = await stored(installed);
    const headers = { authorization: `Bearer ${keys.prod}` };
    const events = await followEvents(`${server.url}/realtime/v1/runs/events?tags=t`, headers);
    const seen: Record<string, unknown> = {};
    while (Object.keys(seen).length < 2) {
      const { data = '{}' } = (await events.next()) ?? {};
      const run = JSON.parse(data) as { id?: string; metadata?: unknown };
      if (run.id !== undefined) seen[run.id] = run.metadata;
    }
    await events.cancel();
    expect(seen).toEqual({ [deepRun]: mark, [fine]: { fine: true } });
    const shape = await ask('GET /realtime/v1/runs?tags=t&offset=-1', { key: keys.prod });
    const values = (shape.body as { value?: { id: string; metadata: string; payload: string | null } }[])
      .flatMap(({ value }) => value ?? [])
      .map(({ id, metadata, payload }) => [id, JSON.parse(metadata), payload && JSON.parse(payload)]);
    expect(Object.fromEntries(values.map(([id, ...rest]) => [id, rest]))).toEqual({
      [deepRun]: [mark, mark],
      [fine]: [{ fine: true }, null],
    });
  });
});
