import { betterName } from './identifiers.ts';
import type { Finding } from './findings.ts';

export const glossary = 'docs/glossary.md';

/** Terms of the glossary that are banned as identifiers. A term names its concept in code, too. */
export const bannedTerms = (markdown: string): Finding[] =>
  termsOf(markdown).flatMap((term) => {
    const better = betterName(glossary, term.replaceAll(' ', '_'));
    return better === undefined ? [] : [{ kind: 'glossary term', at: glossary, text: `${term} → ${better}` }];
  });

/** The first cells of all tables. */
const termsOf = (markdown: string): string[] =>
  markdown
    .split('\n')
    .filter((line) => /^\| (?!Word |Term |-)/.test(line))
    .flatMap((line) => line.split('|')[1]?.trim().split(', ') ?? []);
