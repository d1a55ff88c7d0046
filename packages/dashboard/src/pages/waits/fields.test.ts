import { expect, test } from 'vitest';
import { blankFields, fieldsOf, objectOf, usualFields } from './fields.ts';

test('an object of strings, numbers and flags becomes fields, and fields become the object', () => {
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

test('an empty text is sent, an empty number is rejected, and a flag must be selected', () => {
  expect(objectOf(blankFields([{ name: 'comment', kind: 'text', text: 'x' }]))).toEqual({
    value: { comment: '' },
  });
  expect(objectOf(blankFields([{ name: 'amount', kind: 'number', text: '1' }]))).toEqual({
    errors: new Map([[0, 'Enter a number, or remove the field.']]),
  });
  expect(objectOf(usualFields)).toEqual({ errors: new Map([[0, 'Choose yes or no.']]) });
});

test('missing names, duplicate names and invalid numbers are reported at their field', () => {
  expect(
    objectOf([
      { name: 'a', kind: 'text', text: '1' },
      { name: 'a', kind: 'text', text: '2' },
      { name: '', kind: 'text', text: '3' },
      { name: 'n', kind: 'number', text: 'many' },
    ]),
  ).toEqual({
    errors: new Map([
      [1, 'Another field has the name a.'],
      [2, 'Enter a name, or remove the field.'],
      [3, '"many" is not a number.'],
    ]),
  });
});

test('a property named like a built-in one is an ordinary property', () => {
  const result = objectOf([{ name: '__proto__', kind: 'text', text: 'x' }]);
  expect('value' in result && Object.keys(result.value)).toEqual(['__proto__']);
});
