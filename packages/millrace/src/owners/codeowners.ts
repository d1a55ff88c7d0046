import { isOwner } from '@millrace/contract/plain';
import picomatch from 'picomatch';

/** A line of a CODEOWNERS file. */
interface Rule {
  readonly isMatch: (path: string) => boolean;
  /** Undefined for a line without owners: its files have none. */
  readonly owner: string | undefined;
}

/** A heading of GitLab, such as `[Payments] @payments`; its owners are those of the lines below without owners. */
const sectionPattern = /^\^?\[[^\]]+\](?:\[\d+\])?(.*)$/;

/**
 * The first owner of a path by a CODEOWNERS file, by GitHub's rules: the last matching line decides. Paths have forward slashes and are relative to
 * the repository. Lines that GitHub rejects are ignored.
 *
 * @example
 * codeowners('*.ts @web\n/tasks/ @payments')('tasks/charge.ts'); // '@payments'
 */
export function codeowners(text: string): (path: string) => string | undefined {
  const rules = rulesOf(text);
  return (path) => rules.findLast(({ isMatch }) => isMatch(path))?.owner;
}

function rulesOf(text: string): Rule[] {
  const rules: Rule[] = [];
  let ofSection: string | undefined;
  for (const line of text.split('\n')) {
    const section = sectionPattern.exec(line.trim());
    if (section) {
      ofSection = firstOwner(wordsOf(section[1] ?? ''));
      continue;
    }
    const [pattern, ...names] = wordsOf(line);
    if (pattern === undefined || pattern.startsWith('!')) continue;
    const globs = globsOf(pattern);
    const owner = names.length === 0 ? ofSection : firstOwner(names);
    if (globs.length > 0 && (names.length === 0 || owner !== undefined))
      rules.push({ isMatch: picomatch(globs, { dot: true }), owner });
  }
  return rules;
}

/** The words before a comment. A backslash escapes a space or a `#`. */
function wordsOf(line: string): string[] {
  const words = line.match(/(?:\\.|[^\s\\])+/g) ?? [];
  const comment = words.findIndex((word) => word.startsWith('#'));
  return comment === -1 ? words : words.slice(0, comment);
}

/** A user, a team or an email address. */
const firstOwner = (names: readonly string[]): string | undefined =>
  names.find((name) => name.includes('@') && isOwner(name));

/** The globs of a pattern. A pattern that matches a folder covers all files below it. */
function globsOf(pattern: string): string[] {
  const path = pattern.replace(/^\//, '').replace(/\/$/, '');
  if (path === '') return [];
  // A pattern without a slash, except at its end, matches at any depth.
  const isAnchored = pattern.slice(0, -1).includes('/');
  const glob = `${isAnchored ? '' : '**/'}${path.replaceAll(/\\.|[()[\]{}!+@|^$]/g, escaped)}`;
  if (pattern.endsWith('/')) return [`${glob}/**/*`];
  // `docs/*` covers the files in the folder, but not those of its subfolders.
  return isAnchored && path.endsWith('/*') ? [glob] : [glob, `${glob}/**`];
}

/** Only `*`, `?` and `**` are special. */
const escaped = (text: string): string => (text.startsWith('\\') ? text : `\\${text}`);
