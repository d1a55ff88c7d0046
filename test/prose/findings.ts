import { readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { allowed, type Allowed } from './allowed.ts';
import { files, repository } from './files.ts';
import { betterName } from './identifiers.ts';
import { kinds } from './kinds.ts';
import { readMarkdown } from './markdown.ts';
import type { Passage } from './passage.ts';
import { readTypeScript } from './typescript.ts';
import { readSql } from './sql.ts';

export interface Finding {
  readonly kind: string;
  /** `path:line`. */
  readonly at: string;
  readonly text: string;
}

export interface FileText {
  readonly path: string;
  readonly passages: readonly Passage[];
  /** Identifiers with their lines, and the name of the file. */
  readonly names: ReadonlyMap<string, number>;
}

export function readText(path: string, source: string): FileText {
  if (path.endsWith('.md')) return { path, passages: readMarkdown(source), names: new Map() };
  const { passages, names } = path.endsWith('.sql') ? readSql(source) : readTypeScript(path, source);
  const fileName = basename(path).replace(/(?:\.test)?\.\w+$/, '');
  return { path, passages, names: new Map([...names, [fileName, 1]]) };
}

export const readAll = (paths: readonly string[] = files()): FileText[] =>
  paths.map((path) => readText(path, readFileSync(join(repository, path), 'utf8')));

/** All matches of the kinds in the text of a file, and its banned identifiers. */
export function findingsIn({ path, passages, names }: FileText): Finding[] {
  const sentences = passages.flatMap(({ place, line, text }) =>
    kinds.flatMap(({ name, pattern, except }) =>
      except?.includes(place)
        ? []
        : [...text.matchAll(pattern)].map(({ 0: match, index }) => ({
            kind: name,
            at: `${path}:${line + text.slice(0, index).split('\n').length - 1}`,
            text: around(text, index, match.length),
          })),
    ),
  );
  const identifiers = [...names].flatMap(([name, line]) => {
    const better = betterName(path, name);
    return better === undefined
      ? []
      : [{ kind: 'identifier', at: `${path}:${line}`, text: `${name} → ${better}` }];
  });
  return [...sentences, ...identifiers];
}

/** The match with some words before and after it, in one line. */
const around = (text: string, index: number, length: number): string =>
  text
    .slice(Math.max(0, text.lastIndexOf(' ', index - 60)), index + Math.min(length, 80) + 60)
    .replaceAll(/_{3,}/g, '…')
    .replaceAll(/\s+/g, ' ')
    .trim();

/** Findings that no entry allows, and the entries that allow none. */
export function withoutAllowed(
  findings: readonly Finding[],
  entries: readonly Allowed[] = allowed,
): { readonly open: Finding[]; readonly unused: Allowed[] } {
  const used = new Set<Allowed>();
  const open = findings.filter((finding) => {
    const entry = entries.find(({ kind, text }) => kind === finding.kind && text.test(finding.text));
    if (entry) used.add(entry);
    return !entry;
  });
  return { open, unused: entries.filter((entry) => !used.has(entry)) };
}
