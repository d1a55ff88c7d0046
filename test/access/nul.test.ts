/** NUL characters and lone surrogates, which PostgreSQL text cannot store, in every field that the contract declares. */
import { operations, type OperationDeclaration } from '@millrace/contract';
import { openApiDocument } from '@millrace/contract/openapi';
import { expect, test } from 'vitest';
import { installation } from './installation.ts';
import { sampleOf, wholeSampleOf, type Schema } from './sample.ts';

interface Described {
  readonly requestBody?: { readonly content: Readonly<Record<string, { readonly schema: Schema }>> };
  readonly parameters?: readonly {
    readonly name?: string;
    readonly in?: string;
    readonly required?: boolean;
    readonly schema: Schema;
  }[];
}

type Path = readonly string[];

/** The paths of all texts in a JSON value. */
const textsIn = (value: unknown, path: Path = []): readonly Path[] =>
  typeof value === 'string'
    ? [path]
    : typeof value === 'object' && value !== null
      ? Object.entries(value).flatMap(([name, member]) => textsIn(member, [...path, name]))
      : [];

const at = (value: unknown, [name, ...rest]: Path): unknown =>
  name === undefined ? value : at((value as Record<string, unknown> | undefined)?.[name], rest);

/** A copy of `base` with the text at `path`, and of the members around it only the required ones. */
function withText(base: unknown, whole: unknown, [name, ...rest]: Path, text: string): unknown {
  if (name === undefined) return text;
  const from = at(whole, [name]);
  if (Array.isArray(whole)) return [withText(undefined, from, rest, text)];
  const own = (base ?? requiredOf.get(whole as object) ?? {}) as Record<string, unknown>;
  return { ...own, [name]: withText(own[name], from, rest, text) };
}

/** The required members of objects in a whole sample. */
const requiredOf = new Map<object, unknown>();

function wholeOf(schema: Schema): unknown {
  const whole = wholeSampleOf(schema, 'x');
  remember(schema, whole);
  return whole;
}

function remember(schema: Schema, whole: unknown): void {
  const [first] = schema.anyOf ?? schema.oneOf ?? schema.allOf ?? [];
  if (first) return remember(first, whole);
  if (typeof whole !== 'object' || whole === null) return;
  if (!Array.isArray(whole)) requiredOf.set(whole, sampleOf(schema));
  for (const [name, member] of Object.entries(whole)) {
    const { additionalProperties: more } = schema;
    const own = Array.isArray(whole) ? schema.items : (schema.properties?.[name] ?? more);
    if (typeof own === 'object') remember(own, member);
  }
}

/** By operation and member: the other members without which it is rejected, although its schema does not require them. */
const companions: Readonly<Record<string, object>> = {
  'createBulkAction name': { runIds: ['run_x'] },
  'createChart name': { period: '24h' },
  'createBrowserSession email': { password: 'x'.repeat(12) },
  'createBrowserSession password': { email: 'a@example.com' },
  'importVariables source': { variables: { A: '1' } },
};

/** JSON of any shape, and values of variables that do not exist. All other fields reject the two characters. */
const free: readonly string[] = [
  'triggerTask payload.x',
  'triggerTask context.x',
  'triggerTask options.metadata.x',
  'triggerMany items.0.payload.x',
  'triggerMany items.0.context.x',
  'triggerMany items.0.options.metadata.x',
  'deliverOutbox items.0.task.x',
  'deliverOutbox items.0.x.x',
  'createWholeBatch items.0.payload.x',
  'createWholeBatch items.0.context.x',
  'createWholeBatch items.0.options.metadata.x',
  'replayRun payload.x',
  'replayRun x.x',
  'updateRunMetadata metadata.x.x',
  'updateRunMetadata operations.0.value.x',
  'updateRunMetadata parentOperations.0.value.x',
  'updateRunMetadata rootOperations.0.value.x',
  'sendToInputStream data.x',
  'createWaitpointToken event.filter.x.x',
  'createWaitpointToken schema.x.x',
  'completeWaitpointToken data.x',
  'sendEvent event.payload.x',
  'sendEvent event.context.x',
  'sendEvent event.x.x',
  'sendEvents events.0.event.payload.x',
  'sendEvents events.0.event.context.x',
  'sendEvents events.0.event.x.x',
  'createSession metadata.x.x',
  'updateSession metadata.x.x',
  'updateVariable value',
  'updateVariableByPost value',
  'registerVersion tasks.0.payloadSchema.x.x',
  'createDeployment tasks.0.on.filter.x',
  'createDeployment tasks.0.payloadSchema.x.x',
];

const declarations: readonly OperationDeclaration[] = Object.values(operations);
const { paths } = openApiDocument(operations) as {
  paths: Readonly<Record<string, Readonly<Record<string, Described>>>>;
};
const described = ({ path, method }: OperationDeclaration): Described | undefined =>
  paths[path.replaceAll(/:(\w+)/g, '{$1}')]?.[method.toLowerCase()];

async function started() {
  const { ask, keys, organization, projectRef, token, logged } = await installation();
  const known: Readonly<Record<string, string>> = {
    projectRef,
    organization,
    env: 'prod',
    target: 'self',
    channel: 'side',
  };
  return {
    ask,
    logged,
    organization,
    projectRef,
    keys,
    /** The path with real parameters, and with a sample for each parameter that names an object. */
    pathOf: ({ path }: OperationDeclaration, sample = 'x') =>
      path.replaceAll(/:(\w+)/g, (_, name: string) => known[name] ?? sample),
    keyFor: ({ access }: OperationDeclaration) =>
      access.secretKey && !access.personalAccessToken ? keys.prod : token,
  };
}

/** Whether a sentence of an error names the field, a member of it, or its parent. */
const names = (error: string, field: Path): boolean => {
  const named = [...error.matchAll(/ at "([^"]*)"/g)].map(([, path = '']) => path);
  const text = field.join('.');
  return named.some((path) => path === text || text.startsWith(`${path}.`) || path.startsWith(`${text}.`));
};

test(
  'in a field of a body they are rejected with the path of the field, or part of JSON of any shape',
  { timeout: 120_000 },
  async () => {
    const { ask, logged, pathOf, keyFor } = await started();
    const wrong: string[] = [];
    const stored = new Set<string>();
    let fields = 0;
    for (const declaration of declarations) {
      const { id, method, bodyText, streams, bodyStream, checksTexts } = declaration;
      const schema = described(declaration)?.requestBody?.content['application/json']?.schema;
      if (!schema || bodyText || streams || bodyStream) continue;
      const whole = wholeOf(schema);
      for (const path of textsIn(whole)) {
        fields++;
        const base = { ...(sampleOf(schema) as object), ...companions[`${id} ${path[0]}`] };
        for (const character of ['\0', '\ud800']) {
          const body = withText(base, whole, path, `${String(at(whole, path))}${character}`);
          const request = `${method} ${pathOf(declaration)}`;
          const { status, body: reply } = await ask(request, { key: keyFor(declaration), body });
          const { error } = Object(reply) as { error?: unknown };
          const field = path.join('.');
          // Errors of variables have their names, but no path.
          if (status === 400 && (checksTexts || names(String(error), path))) continue;
          if (status === 400 || status >= 500) wrong.push(`${id} ${field} ${status} ${String(error)}`);
          else stored.add(`${id} ${field}`);
        }
      }
    }
    expect(wrong).toEqual([]);
    expect([...stored].toSorted()).toEqual(free.toSorted());
    expect(fields).toBeGreaterThan(300);
    expect(logged.filter((line) => line.includes('request.failed'))).toEqual([]);
  },
);

test('JSON of any shape is returned with them', async () => {
  const { ask, keys } = await started();
  const key = keys.prod;
  const odd = { 'k\ud800': 'a\0b\udc00', nested: [{ 'n\0': '\ud800' }] };
  const event = { id: 'e', event: { name: 'order.placed', payload: odd, context: odd } };
  await ask('POST /api/v1/events', { key, body: event });
  // The second reply is the stored event.
  expect((await ask('POST /api/v1/events', { key, body: event })).body.event).toMatchObject(event.event);
  const { body: session } = await ask('POST /api/v1/sessions', {
    key,
    body: { type: 'chat', taskIdentifier: 'x', triggerConfig: { basePayload: {} }, metadata: odd },
  });
  expect(session.metadata).toEqual(odd);
  expect((await ask(`GET /api/v1/sessions/${session.id}`, { key })).body.metadata).toEqual(odd);
  const { body: token } = await ask('POST /api/v1/waitpoints/tokens', { key, body: {} });
  await ask(`POST /api/v1/waitpoints/tokens/${token.id}/complete`, { key, body: { data: odd } });
  const { body: completed } = await ask(`GET /api/v1/waitpoints/tokens/${token.id}`, { key });
  expect(JSON.parse(completed.output)).toEqual(odd);
});

test(
  'in a path or a query the reply is that of a missing object or value, or a 400 with the parameter',
  { timeout: 120_000 },
  async () => {
    const { ask, logged, pathOf, keyFor, organization, projectRef } = await started();
    const wrong: string[] = [];
    for (const declaration of declarations) {
      const { id, method, streams, bodyStream } = declaration;
      if (streams || bodyStream) continue;
      const { parameters = [], requestBody } = described(declaration) ?? {};
      const schema = requestBody?.content['application/json']?.schema;
      const queries = parameters.filter((parameter) => parameter.in === 'query');
      const needed = queries.filter(({ required }) => required);
      // In a URL, a lone surrogate can only be bytes that are not UTF-8.
      for (const end of ['%00', '%ed%a0%80'])
        for (const [name, url] of [
          ['', pathOf(declaration, `x${end}`)],
          ...queries.map(({ name: query = '' }) => {
            const others = Object.fromEntries(
              needed.map((parameter) => [parameter.name ?? '', String(sampleOf(parameter.schema))]),
            );
            const own = `${encodeURIComponent(query)}=x${end}`;
            return [query, `${pathOf(declaration)}?${String(new URLSearchParams(others))}&${own}`] as const;
          }),
        ] as const) {
          const body = method === 'GET' ? undefined : schema && sampleOf(schema);
          const { status, body: reply } = await ask(`${method} ${url}`, { key: keyFor(declaration), body });
          const isNamed = status !== 400 || name === '' || JSON.stringify(reply).includes(name);
          if (status >= 500 || !isNamed) wrong.push(`${id} ${url} ${status} ${JSON.stringify(reply)}`);
        }
    }
    expect(wrong).toEqual([]);
    expect(logged.filter((line) => line.includes('request.failed'))).toEqual([]);

    const refusals: readonly (readonly [string, object, string])[] = [
      [`POST /api/v1/projects/${projectRef}/prod/keys/a%00b/revoke`, {}, 'NUL character at "keyId"'],
      [
        `POST /api/v1/projects/${projectRef}/branches`,
        { branch: 'b', git: { author: '\ud800' } },
        '"git.author"',
      ],
      [`POST /api/v1/projects/${projectRef}/branches`, { branch: 'b', git: { '\udc00': 1 } }, '"git"'],
      [
        `POST /api/v1/projects/${projectRef}/envvars/prod/import`,
        { variables: { A: '1' }, source: { type: 'integration', integration: '\ud800' } },
        '"source.integration"',
      ],
      [`GET /api/v1/orgs/${organization}/audit?filter[actor]=a%00b`, {}, 'filter[actor]'],
    ];
    for (const [request, body, named] of refusals) {
      const reply = await ask(request, request.startsWith('GET') ? {} : { body });
      expect([request, reply.status, JSON.stringify(reply.body)]).toEqual([
        request,
        400,
        expect.stringContaining(named.replaceAll('"', '\\"')),
      ]);
    }
  },
);
