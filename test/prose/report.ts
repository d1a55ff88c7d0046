import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Allowed } from './allowed.ts';
import { repository } from './files.ts';
import { findingsIn, readAll, withoutAllowed, type FileText, type Finding } from './findings.ts';
import { bannedTerms, glossary } from './glossary.ts';
import { densePages } from './readability.ts';
import { misspelled } from './spelling.ts';

export interface Report {
  readonly all: readonly FileText[];
  /** The findings of all checks, without the allowed ones. */
  readonly open: readonly Finding[];
  /** Entries of the list of allowed matches that match nothing. */
  readonly unused: readonly Allowed[];
}

export const lineOf = ({ at, kind, text }: Finding): string => `${at}: [${kind}] ${text}`;

export async function report(): Promise<Report> {
  const all = readAll();
  const findings = [
    ...all.flatMap(findingsIn),
    ...densePages(all),
    ...bannedTerms(await readFile(join(repository, glossary), 'utf8')),
    ...(await misspelled(all)),
  ];
  return { all, ...withoutAllowed(findings) };
}
