import { expect, test } from 'vitest';
import { z } from 'zod';
import { detailOf, validationSentence } from './issues.ts';

const issuesOf = (schema: z.ZodType, value: unknown) => schema.safeParse(value).error?.issues ?? [];
const details = (schema: z.ZodType, value: unknown) => issuesOf(schema, value).map(detailOf);

test('every issue has a published code, a message and a path of strings', () => {
  const cases: [z.ZodType, unknown, Record<string, unknown>][] = [
    [z.string(), 1, { code: 'invalid_type', expected: 'string', received: 'number' }],
    [z.coerce.number(), 'many', { code: 'invalid_type', expected: 'number', received: 'nan' }],
    [z.int(), 1.5, { code: 'invalid_type', expected: 'integer', received: 'float' }],
    [z.int(), 1e300, { code: 'too_big', type: 'number' }],
    [z.record(z.string(), z.string()), [], { code: 'invalid_type', expected: 'object', received: 'array' }],
    [z.number().min(1), 0, { code: 'too_small', minimum: 1, inclusive: true, type: 'number' }],
    [z.number().max(100), 101, { code: 'too_big', maximum: 100, inclusive: true, type: 'number' }],
    [z.string().regex(/a/), 'b', { code: 'invalid_string', validation: 'regex' }],
    [z.iso.datetime(), 'b', { code: 'invalid_string', validation: 'datetime' }],
    [z.enum(['a', 'b']), 'c', { code: 'invalid_enum_value', options: ['a', 'b'] }],
    [z.literal('a'), 'c', { code: 'invalid_literal', expected: 'a' }],
    [z.strictObject({}), { b: 1 }, { code: 'unrecognized_keys', keys: ['b'] }],
    [z.union([z.string(), z.boolean()]), 1, { code: 'invalid_union' }],
    [
      z.discriminatedUnion('type', [z.object({ type: z.literal('a') })]),
      { type: 'b' },
      { code: 'invalid_union_discriminator' },
    ],
    [z.number().multipleOf(5), 3, { code: 'not_multiple_of', multipleOf: 5 }],
    [z.string().refine(() => false, 'no'), 'a', { code: 'custom', message: 'no' }],
  ];
  for (const [schema, value, expected] of cases) {
    const [detail] = details(schema, value);
    expect(detail).toMatchObject(expected);
    expect(detail?.message).toEqual(expect.any(String));
  }
  expect(details(z.object({ list: z.array(z.string()) }), { list: ['a', 1] })[0]?.path).toEqual([
    'list',
    '1',
  ]);
});

test('an invalid value never appears in the error', () => {
  const schema = z.object({ value: z.enum(['a', 'b']), text: z.string().regex(/^a$/) });
  const issues = issuesOf(schema, { value: 'hunter2', text: 'hunter2' });
  expect(issues.length).toBe(2);
  expect(JSON.stringify(issues.map(detailOf)) + validationSentence(issues)).not.toContain('hunter2');
});

test('an invalid body is reported in one sentence naming each path', () => {
  const schema = z.object({ name: z.string(), options: z.object({ ttl: z.number().min(0) }) });
  expect(validationSentence(issuesOf(schema, { name: 1, options: { ttl: -1 } }))).toMatch(
    /^Validation error: .*expected string.* at "name"; Too small.* at "options\.ttl"$/,
  );
  expect(validationSentence(issuesOf(schema, 'text'))).toMatch(
    /^Validation error: [^;]*expected object[^"]*$/,
  );
});

test('a union reports the alternative with the matching type, otherwise all alternatives', () => {
  const tags = z.object({ tags: z.union([z.string().max(3), z.array(z.string().max(3, 'a tag is short'))]) });
  expect(validationSentence(issuesOf(tags, { tags: ['ok', 'too long'] }))).toBe(
    'Validation error: a tag is short at "tags.1"',
  );
  expect(validationSentence(issuesOf(tags, { tags: 7 }))).toBe(
    'Validation error: Invalid input: expected string or array at "tags"',
  );
});

test('a message about a thousand issues stays short', () => {
  const issues = issuesOf(z.array(z.string()), Array(1_000).fill(1));
  const sentence = validationSentence(issues);
  expect(sentence).toContain('and 990 more');
  expect(sentence.length).toBeLessThan(1_000);
});
