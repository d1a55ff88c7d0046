import { join } from 'node:path';
import { expect, test } from 'vitest';
import { readCorpus } from '../score.ts';
import { fingerprintOfM1 } from './index.ts';

test('gives every error the fingerprint that it was released with', () => {
  const corpus = readCorpus(join(import.meta.dirname, '../corpus/train.ndjson'));
  const first = new Map(corpus.map((line) => [line.label, line]));
  expect(
    Object.fromEntries([...first].map(([label, line]) => [label, fingerprintOfM1(line)])),
  ).toMatchSnapshot();
});
