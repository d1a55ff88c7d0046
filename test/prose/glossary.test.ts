import { expect, test } from 'vitest';
import { bannedTerms } from './glossary.ts';

test('finds the terms that are banned as identifiers', () => {
  const page =
    '# Glossary\n\n| Word | Meaning |\n|---|---|\n| lane, held | made |\n| concurrency key | kept |\n| last words | – |\n';
  expect(bannedTerms(page).map(({ text }) => text)).toEqual([
    'held → leased, blocked',
    'last words → final messages',
  ]);
});
