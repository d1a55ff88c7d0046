import { expect, test } from 'vitest';
import { blankFields, fieldsOf, objectOf, usualFields } from './fields.ts';

test('an object of texts, numbers and flags becomes fields, and fields become the object', () => {
  const value = { approved: true, comment: 'fine', amount: 12.5 };
  const fields = fieldsOf(value);
  expect(fields?.map(({ kind }) => kind)).toEqual(['flag', 'text', 'number']);
  expect(objectOf(fields ?? [])).toEqual({ value });
});

test.each([[null], ['text'], [[1]], [{ nested: {} }], [{ nothing: null }]])(
  '%j is written as JSON',
  (value) => {
    expect(fieldsOf(value)).toBeUndefined();
  },
);

test('what is empty is left out; a flag has to be chosen', () => {
  expect(objectOf(blankFields([{ name: 'comment', kind: 'text', text: 'x' }]))).toEqual({ value: {} });
  expect(objectOf(usualFields)).toEqual({ errors: new Map([[0, 'Choose yes or no.']]) });
});

test('names that are missing or come twice, and what is no number, are named at their field', () => {
  expect(
    objectOf([
      { name: 'a', kind: 'text', text: '1' },
      { name: 'a', kind: 'text', text: '2' },
      { name: '', kind: 'text', text: '3' },
      { name: 'n', kind: 'number', text: 'many' },
    ]),
  ).toEqual({
    errors: new Map([
      [1, 'There is another field a.'],
      [2, 'Give it a name, or remove it.'],
      [3, '"many" is not a number.'],
    ]),
  });
});

test('a member with a name that objects have is a member', () => {
  const result = objectOf([{ name: '__proto__', kind: 'text', text: 'x' }]);
  expect('value' in result && Object.keys(result.value)).toEqual(['__proto__']);
});
