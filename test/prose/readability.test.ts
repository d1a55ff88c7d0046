import { expect, test } from 'vitest';
import { readText } from './findings.ts';
import { densePages, sentenceLengths } from './readability.ts';

const sentence = (words: number): string => `A${' word'.repeat(words - 1)}.`;

test('counts the words of sentences, with code as one word, without items', () => {
  const [passage] = readText(
    'a.md',
    `It calls \`runs.list()\` twice. Not this.\nDoes it? \`a b\` is a name.\n`,
  ).passages;
  expect(sentenceLengths(passage?.text ?? '')).toEqual([4, 4]);
});

test('finds pages whose median sentence is long', () => {
  const dense = readText('dense.md', `${sentence(20)} ${sentence(30)} ${sentence(5)}\n`);
  const light = readText('light.md', `${sentence(19)} ${sentence(30)} ${sentence(5)}\n`);
  expect(densePages([dense, light])).toEqual([
    { kind: 'dense page', at: 'dense.md', text: 'the median sentence has 20 words' },
  ]);
});
