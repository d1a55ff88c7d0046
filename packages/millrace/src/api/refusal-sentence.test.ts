import { expect, test } from 'vitest';
import { refusalSentence } from './refusal-sentence.ts';

test('the error of a rejected request contains its invalid fields, or the message of the server', () => {
  const details = [
    { message: 'must be 1 to 99', path: ['percent'] },
    { message: 'Unrecognized key: "x"', path: [] },
  ];
  expect(refusalSentence(400, 'Bad Request', { error: 'Query Error', details })).toBe(
    '400 percent: must be 1 to 99; Unrecognized key: "x"',
  );
  expect(refusalSentence(400, 'Bad Request', { error: 'Query Error' })).toBe('400 Query Error');
  expect(refusalSentence(422, 'Unprocessable', { error: 'ttl: too long', details })).toBe(
    '422 ttl: too long',
  );
  expect(refusalSentence(502, 'Bad Gateway', {})).toBe('502 Bad Gateway');
});
