import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Allowed } from './allowed.ts';
import { repository } from './files.ts';
import { findingsIn, readAll, withoutAllowed, type Finding } from './findings.ts';
import { bannedTerms, glossary } from './glossary.ts';
import { densePages } from './readability.ts';
import { misspelled } from './spelling.ts';

/** The findings of all checks, without the allowed ones. */
export async function report(): Promise<{ readonly open: Finding[]; readonly unused: Allowed[] }> {
  const all = readAll();
  return withoutAllowed([
    ...all.flatMap(findingsIn),
    ...densePages(all),
    ...bannedTerms(await readFile(join(repository, glossary), 'utf8')),
    ...(await misspelled(all)),
  ]);
}
