import { expect, test } from 'vitest';
import { z } from 'zod';
import { unstorableIssue, unstorableText } from './unstorable.ts';

const schema = z.object({
  name: z.string().optional(),
  tags: z
    .union([z.string(), z.array(z.string())])
    .transform((tags) => [tags].flat())
    .pipe(z.array(z.string()))
    .optional(),
  pair: z.tuple([z.string(), z.number()]).nullable().default(null),
  named: z.record(z.string(), z.string()).optional(),
  trimmed: z.preprocess((text) => text, z.string()).optional(),
  nested: z.lazy(() => z.object({ name: z.string() })).optional(),
  payload: z.unknown(),
  metadata: z.record(z.string(), z.unknown()).optional(),
});

const pathOf = (value: unknown) => {
  const json = JSON.stringify(value);
  return unstorableIssue(schema, JSON.parse(json), json)?.path.join('.');
};

test.each([
  ['name', { name: 'a\0' }],
  ['tags', { tags: '\ud800' }],
  ['tags.1', { tags: ['a', '\udfff'] }],
  ['pair.0', { pair: ['\0', 1] }],
  ['named.a', { named: { a: '\0' } }],
  ['named', { named: { '\ud800': 'a' } }],
  ['trimmed', { trimmed: '\0' }],
  ['nested.name', { nested: { name: '\0' } }],
])('reports %s, whose text cannot be stored', (path, value) => {
  expect(pathOf(value)).toBe(path);
});

test.each([
  ['complete surrogate pairs', { name: '\ud83d\ude00 \ue000' }],
  ['an escape that is text', { name: String.raw`\u0000 \ud800` }],
  ['JSON of any shape', { payload: { '\0': ['\ud800'] }, metadata: { '\ud800': '\0' } }],
  ['members that are dropped', { other: '\0' }],
])('accepts %s', (_, value) => {
  expect(pathOf(value)).toBeUndefined();
});

test('searches any value, even without a schema', () => {
  expect(unstorableText({ a: [{ b: 'c\0' }] })).toMatchObject({
    message: 'must not contain a NUL character',
    path: ['a', '0', 'b'],
  });
  expect(unstorableText({ 'a\ud800': 1 })).toMatchObject({ path: [] });
  expect(unstorableText([1, null, 'a'])).toBeUndefined();
});
