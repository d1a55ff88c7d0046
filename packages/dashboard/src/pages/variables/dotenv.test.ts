import { expect, test } from 'vitest';
import { namesIn } from './dotenv.ts';
import { cpuTimeOf } from '../../../../../test/support/cpu-time.ts';

test('names are read as the server reads them', () => {
  expect(namesIn('A=1\n  export B = "x"\n\n# C=3\nD: yes\nA=2')).toEqual(['A', 'B', 'D']);
  expect(namesIn('no assignment here\r\nE=5\r\n')).toEqual(['E']);
});

test('a value in quotes goes over several lines, and what looks like a name in it is none', () => {
  expect(namesIn('KEY="-----BEGIN\nINNER=1\n-----END"\nNEXT=\'a\nb=c\'\nLAST=`x`')).toEqual([
    'KEY',
    'NEXT',
    'LAST',
  ]);
});

test('a long text of quotes that never end takes no time', () => {
  const text = `A="${'\\"x'.repeat(50_000)}`;
  expect(cpuTimeOf(() => namesIn(text))).toBeLessThan(500);
});
