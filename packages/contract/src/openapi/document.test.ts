import { expect, test } from 'vitest';
import { z } from 'zod';
import { operation } from '../operation.ts';
import { operations } from '../operations/index.ts';
import { openApiDocument } from './document.ts';

const document = openApiDocument(operations);

test('contains every operation once, under its id, with the label of the specification', () => {
  expect(document.openapi).toBe('3.1.0');
  expect(document.info.version).toBe('2024-04');
  const ids = Object.values(document.paths).flatMap((path) =>
    Object.values(path).map((each) => (each as { operationId: string }).operationId),
  );
  expect(ids.toSorted()).toEqual(
    Object.values(operations)
      .map(({ id }) => id)
      .toSorted(),
  );
});

test('is plain JSON whose references resolve', () => {
  const text = JSON.stringify(document);
  expect(JSON.parse(text)).toEqual(document);
  const references = [...text.matchAll(/"\$ref":"([^"]+)"/g)].map(([, reference = '']) => reference);
  expect(references.length).toBeGreaterThan(0);
  const dangling = references.filter((reference) => {
    const names = reference.replace('#/', '').split('/');
    const found = names.reduce<unknown>(
      (at, name) => (at as Record<string, unknown> | undefined)?.[name],
      document,
    );
    return found === undefined;
  });
  expect(dangling).toEqual([]);
});

test('requests are described in their sent form, with every path parameter required', () => {
  expect(document.paths['/api/v1/errors']?.['get']).toMatchObject({
    security: [{ secretKey: [] }, { publicToken: [] }, { browserSession: [] }],
    parameters: expect.arrayContaining([
      expect.objectContaining({
        name: 'page[size]',
        in: 'query',
        required: false,
        schema: expect.objectContaining({ type: 'integer', minimum: 1, maximum: 100, default: 25 }) as object,
      }),
      // A list is one comma-separated string, not the array to which it is parsed.
      expect.objectContaining({
        name: 'filter[status]',
        schema: expect.objectContaining({ type: 'string' }) as object,
      }),
    ]) as object,
  });
  expect(document.paths['/api/v1/errors/{errorId}/resolve']?.['post']).toMatchObject({
    parameters: [{ name: 'errorId', in: 'path', required: true }, { $ref: '#/components/parameters/branch' }],
    requestBody: { required: true },
    responses: { 200: {}, 400: {}, 401: {}, 403: {}, 404: {}, 500: {} },
  });
});

test('environment operations list the branch header, and body limits appear as a 413', () => {
  const of = (method: string, path: string) =>
    document.paths[path]?.[method] as { parameters?: { $ref?: string }[]; responses: object };
  const takesBranch = (method: string, path: string) =>
    of(method, path).parameters?.some(({ $ref }) => $ref === '#/components/parameters/branch') ?? false;
  expect(takesBranch('put', '/api/v1/projects/{projectRef}/envvars/{env}/{name}')).toBe(true);
  expect(takesBranch('get', '/api/v1/runs')).toBe(true);
  expect(takesBranch('get', '/api/v1/timezones')).toBe(false);
  expect(takesBranch('get', '/api/v1/orgs')).toBe(false);
  expect(takesBranch('post', '/api/v1/projects/{projectRef}/branches')).toBe(false);
  expect(of('post', '/api/v1/sessions/{session}/close').responses).toHaveProperty('413');
  expect(of('get', '/api/v1/runs').responses).not.toHaveProperty('413');
});

test('an open operation requires no credential; a date is a string; a field with a default is not required', () => {
  const open = operation({
    id: 'open',
    method: 'POST',
    path: '/x',
    tag: 'x',
    summary: 'x',
    access: { open: true },
    body: z.object({ at: z.date(), n: z.number().default(1) }),
    bodyOptional: true,
    status: 202,
    reply: z.object({}),
  });
  expect(openApiDocument({ open }, { serverUrl: 'https://example.com' })).toMatchObject({
    servers: [{ url: 'https://example.com' }],
    paths: {
      '/x': {
        post: {
          security: [],
          requestBody: {
            required: false,
            content: {
              'application/json': {
                schema: { properties: { at: { type: 'string', format: 'date-time' } }, required: ['at'] },
              },
            },
          },
          responses: { 202: {}, 400: {}, 500: {} },
        },
      },
    },
  });
});
