import { taskManifest } from '@millrace/contract/runner';
import { expect, test } from 'vitest';
import { z } from 'zod';
import { event, task } from '../index.ts';
import { manifestOf } from './manifest.ts';

const run = () => {};
const declared = (options: object) => {
  const created = task({ id: 't', run, ...options } as Parameters<typeof task>[0]);
  const { payloadSchema, payloadSchemaNote, ...rest } = taskManifest.parse(manifestOf(created, 'tasks/t.ts'));
  return { payloadSchema, payloadSchemaNote, rest };
};
const standard = (jsonSchema?: object) => ({
  '~standard': { version: 1, vendor: 'acme', validate: (value: unknown) => ({ value }), ...jsonSchema },
});

test('a zod schema becomes the JSON Schema of its input', () => {
  const schema = z.object({
    to: z.email().describe('Who gets it'),
    copies: z.number().int().default(1),
    at: z.date().optional(),
  });
  expect(declared({ schema }).payloadSchema).toEqual({
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    type: 'object',
    properties: {
      to: expect.objectContaining({ type: 'string', format: 'email', description: 'Who gets it' }) as object,
      copies: expect.objectContaining({ type: 'integer', default: 1 }) as object,
      at: {},
    },
    // Callers may omit fields that have a default.
    required: ['to'],
  });
});

test("the schema of a task's events does too", () => {
  const on = event({ name: 'order.placed', schema: z.object({ total: z.number() }) });
  expect(declared({ on }).payloadSchema).toMatchObject({ properties: { total: { type: 'number' } } });
});

test.each([
  ['no schema', {}, undefined, undefined],
  [
    'a library without Standard JSON Schema',
    { schema: standard() },
    undefined,
    'its schema (acme) does not implement Standard JSON Schema; zod supports it since 4.2',
  ],
  [
    'a converter that throws',
    {
      schema: standard({
        jsonSchema: {
          input() {
            throw new Error('no maps');
          },
        },
      }),
    },
    undefined,
    'acme cannot convert it to JSON Schema: no maps',
  ],
  [
    'a value that is not JSON',
    { schema: standard({ jsonSchema: { input: () => ({ const: 1n }) } }) },
    undefined,
    expect.stringContaining('acme cannot convert it to JSON Schema: ') as string,
  ],
  [
    'no object',
    { schema: standard({ jsonSchema: { input: () => true } }) },
    undefined,
    'acme cannot convert it to JSON Schema: it is not an object',
  ],
  [
    'functions among it',
    { schema: standard({ jsonSchema: { input: () => ({ type: 'string', check() {} }) } }) },
    { type: 'string' },
    undefined,
  ],
])('%s', (_, options, payloadSchema, payloadSchemaNote) => {
  expect(declared(options)).toMatchObject({ payloadSchema, payloadSchemaNote });
});
