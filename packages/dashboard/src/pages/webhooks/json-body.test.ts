import { expect, test } from 'vitest';
import { jsonBody } from './json-body.ts';

test.each([
  ['application/json; charset=utf-8', '[1]', { value: [1] }],
  ['application/cloudevents+json', 'null', { value: null }],
  ['application/json', '{not json', undefined],
  ['text/plain', '[1]', undefined],
])('of type %s, the body %s has the value %j', (type, rawBody, expected) => {
  expect(jsonBody({ headers: { 'content-type': type }, rawBody, isBase64Encoded: false })).toEqual(expected);
});
