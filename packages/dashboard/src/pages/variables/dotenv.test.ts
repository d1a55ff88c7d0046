import { expect, test } from 'vitest';
import { namesIn } from './dotenv.ts';
import { cpuTimeOf } from '../../../../../test/support/cpu-time.ts';

test('names are read in the same way as on the server', () => {
  expect(namesIn('A=1\n  export B = "x"\n\n# C=3\nD: yes\nA=2')).toEqual(['A', 'B', 'D']);
  expect(namesIn('no assignment here\r\nE=5\r\n')).toEqual(['E']);
});

test('a quoted value spans several lines, and names inside it are ignored', () => {
  expect(namesIn('KEY="-----BEGIN\nINNER=1\n-----END"\nNEXT=\'a\nb=c\'\nLAST=`x`')).toEqual([
    'KEY',
    'NEXT',
    'LAST',
  ]);
});

test('a long text of unclosed quotes is read quickly', () => {
  const text = `A="${'\\"x'.repeat(50_000)}`;
  expect(cpuTimeOf(() => namesIn(text))).toBeLessThan(500);
});
