import { readdirSync, readFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';

const root = fileURLToPath(new URL('../../', import.meta.url));

interface Rule {
  /** A word of an identifier: `settleRun` and `settle_run` have the words `settle` and `run`. */
  readonly words: RegExp;
  /** What to call it instead. */
  readonly instead: string;
  /** Paths in which the rule holds. Without it, everywhere. */
  readonly within?: RegExp;
}

const server = /^packages\/server\//;
const lists = /^packages\/server\/(?:src\/(?:errors|runs\/list)\/|sql\/)/;

/** Words that have been replaced with standard terms (docs/glossary.md has those that remain). */
const rules: readonly Rule[] = [
  { words: /^settl(?:e[ds]?|ing)$/, instead: 'complete' },
  {
    words: /^routes?$/,
    instead: 'pinned version',
    within: /^packages\/server\/(?:sql\/|src\/(?:runs|versions|runners|queues|schedules|batches|events)\/)/,
  },
  { words: /^ord$/, instead: 'sort key' },
  { words: /^(?:un)?park(?:s|ed|er|ing)?$/, instead: 'pending version' },
  { words: /^spells?$/, instead: 'suspension' },
  { words: /^greet(?:s|ed)?$/, instead: 'handle hello', within: server },
  { words: /^(?:un)?heard$/, instead: 'consumed, unread' },
  {
    words: /^(?:look|walk(?:s|ed|er|ing)?|narrow(?:s|ed|ing)?)$/,
    instead: 'fetch page, scan index, prefilter',
    within: lists,
  },
  {
    words: /^(?:pack(?:s|ed|er|ing)?|wholes?|moves|thin(?:s|ned|ning)?)$/,
    instead: 'roll-ups, snapshot, remaps, compaction',
    within: lists,
  },
  { words: /^notic(?:ed|ing)$/, instead: 'publish run changes' },
  { words: /^twins?$/, instead: 'duplicates' },
  { words: /^surely$/, instead: 'with retry' },
  { words: /^reach(?:es)?$/, instead: 'authorize (a run), ping (a database)', within: server },
  { words: /^alarms?$/, instead: 'timer', within: server },
  { words: /^dut(?:y|ies)$/, instead: 'job' },
  { words: /^rounds?$/, instead: 'tick', within: /^packages\/server\/(?!.*(?:\.test\.ts|\/testing\/))/ },
  { words: /^hurry$/, instead: 'wake now' },
  { words: /^plainly$/, instead: 'fast path' },
  { words: /^care$/, instead: 'conditional' },
  { words: /^places?$/, instead: 'index, slot, cursor or position' },
  { words: /^replay(?:s|ed)?$/, instead: 'idempotent response', within: /^packages\/server\/src\/http\// },
];

/** Whole identifiers that have been replaced. */
const names: Readonly<Record<string, string>> = {
  Parts: 'ServerContext',
  startParts: 'startContext',
  Stops: 'Disposables',
  itsData: 'isDataError',
};

/** `mostRows`, `longest_key`: a limit is called `max…` or `min…`. */
const limit = /^(?:most|longest|least)(?:[A-Z_]\w*)$/;

/** Identifiers that have such a word and stay, with the reason. */
const allowed: Readonly<Record<string, string>> = {
  allSettled: 'of JavaScript',
  PromiseSettledResult: 'of JavaScript',
  settled: 'of JavaScript, and of the header X-Peek-Settled',
  lookUp: 'standard English',
  applyInPlace: 'standard English',
  server_round_robin: 'a setting of PgBouncer',
};

/** Identifiers of a file: of its code and of the SQL in its tagged templates, without comments and other texts. */
function identifiers(path: string, text: string): Set<string> {
  const found = new Set<string>();
  const sql = (part: string): void => {
    const bare = part.replaceAll(/\/\*[\s\S]*?\*\/|--[^\n]*|'(?:[^']|'')*'/g, ' ');
    for (const [word] of bare.matchAll(/[A-Za-z_]\w*/g)) found.add(word);
  };
  if (path.endsWith('.sql')) {
    sql(text);
    return found;
  }
  /** For each template that is open: whether it has a tag, and how many braces of its expression are open. */
  const open: { tagged: boolean; braces: number }[] = [];
  let index = 0;
  const template = (tagged: boolean): void => {
    const start = index;
    while (index < text.length && text[index] !== '`' && !text.startsWith('${', index))
      index += text[index] === '\\' ? 2 : 1;
    if (tagged) sql(text.slice(start, index));
    if (text[index] === '`') index++;
    else {
      index += 2;
      open.push({ tagged, braces: 0 });
    }
  };
  const token =
    /\/\/[^\n]*|\/\*[\s\S]*?\*\/|'(?:[^'\\\n]|\\.)*'|"(?:[^"\\\n]|\\.)*"|(?<=[=(,:[!&|?]\s*)\/(?![/*])(?:[^/\\\n[]|\\.|\[(?:[^\]\\\n]|\\.)*\])+\/[a-z]*|(?:Math\.)?[A-Za-z_$][\w$]*|[`{}]/y;
  while (index < text.length) {
    token.lastIndex = index;
    const [match] = token.exec(text) ?? [];
    if (match === undefined) {
      index++;
      continue;
    }
    const before = text[index - 1] ?? '';
    index += match.length;
    const inner = open.at(-1);
    if (match === '`') template(/[\w$>]/.test(before));
    else if (match === '{' && inner) inner.braces++;
    else if (match === '}' && inner && inner.braces > 0) inner.braces--;
    else if (match === '}' && inner) {
      open.pop();
      template(inner.tagged);
    } else if (/^[A-Za-z_$]/.test(match)) found.add(match);
  }
  return found;
}

const wordsOf = (identifier: string): string[] =>
  identifier
    .replaceAll(/([a-z\d])([A-Z])/g, '$1_$2')
    .replaceAll(/([A-Z])([A-Z][a-z])/g, '$1_$2')
    .toLowerCase()
    .split(/[_$\d-]+/);

function offences(path: string, identifier: string): string[] {
  if (identifier in allowed || identifier.startsWith('Math.')) return [];
  const better = Object.hasOwn(names, identifier)
    ? names[identifier]
    : limit.test(identifier)
      ? 'max…, min…'
      : undefined;
  if (better !== undefined) return [`${path}: ${identifier} → ${better}`];
  // A function of PostgreSQL.
  if (identifier === 'round') return [];
  const words = wordsOf(identifier);
  return rules
    .filter(
      ({ within, words: forbidden }) =>
        (within?.test(path) ?? true) && words.some((word) => forbidden.test(word)),
    )
    .map(({ instead }) => `${path}: ${identifier} → ${instead}`);
}

/** Source and SQL that we write. */
function sources(): string[] {
  const folders = readdirSync(join(root, 'packages')).flatMap((name) =>
    ['src', 'sql'].map((folder) => join(root, 'packages', name, folder)),
  );
  return folders.flatMap((folder) => {
    try {
      return readdirSync(folder, { recursive: true, withFileTypes: true })
        .filter((entry) => entry.isFile() && /\.(?:ts|sql)$/.test(entry.name))
        .map((entry) => relative(root, join(entry.parentPath, entry.name)))
        .filter((path) => !/\/corpus\//.test(path));
    } catch {
      return [];
    }
  });
}

test('identifiers and file names use the words of the glossary', () => {
  const found = sources().flatMap((path) => [
    ...offences(path, (path.split('/').at(-1) as string).replace(/(?:\.test)?\.\w+$/, '')),
    ...[...identifiers(path, readFileSync(join(root, path), 'utf8'))].flatMap((identifier) =>
      offences(path, identifier),
    ),
  ]);
  expect(found).toEqual([]);
});
