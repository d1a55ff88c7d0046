import { operations, type OperationDeclaration } from '@millrace/contract';
import { openApiDocument } from '@millrace/contract/openapi';
import { expect, test } from 'vitest';
import { installation } from './installation.ts';
import { sampleOf, wholeSampleOf, type Schema } from './sample.ts';

interface Described {
  readonly requestBody?: { readonly content: Readonly<Record<string, { readonly schema: Schema }>> };
}

/** Every text of a body with something at its end, and something more where anything may be. */
const withEnd = (value: unknown, end: string): unknown =>
  typeof value === 'string'
    ? `${value}${end}`
    : Array.isArray(value)
      ? value.map((member) => withEnd(member, end))
      : typeof value === 'object' && value !== null
        ? Object.fromEntries(Object.entries(value).map(([name, member]) => [name, withEnd(member, end)]))
        : value;

test(
  'a NUL, or half of a surrogate pair, in a path or a body is never a fault of the server, on any route',
  { timeout: 120_000 },
  async () => {
    const { ask, keys, organization, projectRef, token, logged } = await installation();
    const { paths } = openApiDocument(operations) as {
      paths: Readonly<Record<string, Readonly<Record<string, Described>>>>;
    };
    const known: Readonly<Record<string, string>> = { projectRef, organization, env: 'prod' };
    const faults: string[] = [];
    const declarations: readonly OperationDeclaration[] = Object.values(operations);
    for (const { id, method, path, access, streams, bodyStream } of declarations) {
      if (streams || bodyStream) continue;
      const described = paths[path.replaceAll(/:(\w+)/g, '{$1}')]?.[method.toLowerCase()];
      const schema = described?.requestBody?.content['application/json']?.schema;
      const body = schema && sampleOf(schema);
      const here = path.replaceAll(/:(\w+)/g, (_, name: string) => known[name] ?? 'x');
      const wrong = path.replaceAll(/:(\w+)/g, (_, name: string) => known[name] ?? 'a%00b');
      const key = access.secretKey ? keys.prod : token;
      for (const [to, sent] of [
        [wrong, body],
        [here, withEnd(body, '\0')],
        [here, withEnd(body, '\ud800')],
        ...['\0', '\ud800'].map((end) => [here, schema && wholeSampleOf(schema, `x${end}`)] as const),
      ] as const) {
        const { status } = await ask(`${method} ${to}`, { key, body: method === 'GET' ? undefined : sent });
        if (status >= 500) faults.push(`${id} ${method} ${to} ${status}`);
      }
    }
    expect(faults).toEqual([]);
    expect(logged.filter((line) => line.includes('request.failed'))).toEqual([]);
    expect(await ask(`POST /api/v1/projects/${projectRef}/prod/keys/a%00b/revoke`)).toMatchObject({
      status: 400,
      body: { error: expect.stringContaining('NUL') as string },
    });
    const half = { status: 400, body: { error: expect.stringContaining('surrogate') as string } };
    const at = `/api/v1/projects/${projectRef}`;
    for (const git of [{ author: '\ud800' }, { '\udc00': 1 }]) {
      expect(await ask(`POST ${at}/branches`, { body: { branch: 'b', git } })).toMatchObject(half);
    }
    const source = { type: 'integration', integration: '\ud800' };
    const variables = { A: '1' };
    expect(await ask(`POST ${at}/envvars/prod/import`, { body: { variables, source } })).toMatchObject(half);
    expect((await ask(`GET /api/v1/orgs/${organization}/audit?filter[actor]=a%00b`)).status).toBe(400);
  },
);
