interface Rule {
  /** A word of an identifier: `settleRun` and `settle_run` have the words `settle` and `run`. */
  readonly words: RegExp;
  readonly instead: string;
  /** The word is banned as a whole identifier only: compounds such as `oneTime` or `shownColumns` are standard English. */
  readonly isAlone?: true;
  /** Paths in which the rule applies. Without it, everywhere. */
  readonly within?: RegExp;
}

const server = /^packages\/server\//;
const lists = /^packages\/server\/(?:src\/(?:errors|runs\/list)\/|sql\/)/;

/** Words that are replaced by standard terms. */
const rules: readonly Rule[] = [
  { words: /^given$/, instead: 'input, options' },
  { words: /^ones?$/, instead: 'item, entry, or its name', isAlone: true },
  { words: /^asked$/, instead: 'requested' },
  { words: /^made$/, instead: 'created' },
  { words: /^kept$/, instead: 'stored, cached, retained' },
  { words: /^wanted$/, instead: 'target, requested, expected' },
  { words: /^(?:told|tell(?:s|ing)?)$/, instead: 'notify, report, reason' },
  { words: /^said$/, instead: 'message, output' },
  { words: /^held$/, instead: 'leased, blocked' },
  { words: /^shown$/, instead: 'response, visible', isAlone: true },
  { words: /^facts?$/, instead: 'info, properties' },
  { words: /^looks?$/, instead: 'variant, query', isAlone: true },
  { words: /^does$/, instead: 'a verb', isAlone: true },
  { words: /^outdates?$/, instead: 'invalidates' },
  { words: /^most$/, instead: 'max, limit', isAlone: true },
  { words: /^heed(?:s|ed|ing)?$/, instead: 'apply' },
  { words: /^misfits?$/, instead: 'unmet requirements' },
  { words: /^lived$/, instead: 'duration, age' },
  { words: /^crowd(?:s|ed)?$/, instead: 'group, population' },
  { words: /^owed$/, instead: 'pending, due' },
  { words: /^strays?$/, instead: 'orphaned' },
  { words: /^deaf$/, instead: 'unresponsive' },
  { words: /^briefs?$/, instead: 'summary, short' },
  { words: /^spare$/, instead: 'available, reserve' },
  { words: /^untouched$/, instead: 'unchanged' },
  { words: /^ran$/, instead: 'executed' },
  { words: /^mend(?:s|ed|ing)?$/, instead: 'fix' },
  { words: /^settl(?:e[ds]?|ing)$/, instead: 'complete' },
  { words: /^spells?$/, instead: 'suspension' },
  { words: /^(?:un)?heard$/, instead: 'consumed, unread' },
  {
    words: /^routes?$/,
    instead: 'pinned version',
    within: /^packages\/server\/(?:sql\/|src\/(?:runs|versions|runners|queues|schedules|batches|events)\/)/,
  },
  { words: /^ord$/, instead: 'sort key' },
  { words: /^(?:un)?park(?:s|ed|er|ing)?$/, instead: 'pending version' },
  { words: /^greet(?:s|ed)?$/, instead: 'handle hello', within: server },
  {
    words: /^(?:walk(?:s|ed|er|ing)?|narrow(?:s|ed|ing)?)$/,
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
  { words: /^places?$/, instead: 'index, slot, cursor or position', within: /^packages\// },
  { words: /^replay(?:s|ed)?$/, instead: 'idempotent response', within: /^packages\/server\/src\/http\// },
];

/** Phrases in identifiers, in snake case. */
const phrases: Readonly<Record<string, string>> = {
  let_go: 'release',
  lets_go: 'releases',
  come_back: 'return, reconnect',
  give_back: 'release',
  gives_back: 'releases',
  given_back: 'released',
  last_words: 'final messages',
  same_as: 'a code example',
};

/** `mostRows`, `longestKey`, `least_age`: a limit is called `max…` or `min…`. */
const limit = /^(?:most|longest|least)[A-Z_]/;

/** Whole identifiers of the server that have been replaced. */
const serverNames: Readonly<Record<string, string>> = {
  Parts: 'ServerContext',
  startParts: 'startContext',
  Stops: 'Disposables',
  itsData: 'isDataError',
};

/** Phrases and names that contain such a word and stay, in snake case, with the reason. */
export const allowedPhrases: Readonly<Record<string, string>> = {
  in_place: 'standard English',
  all_settled: 'a function of JavaScript',
  promise_settled: 'a type of TypeScript',
  peek_settled: 'a header of the API',
  round_robin: 'standard English',
};

/** Single words that stay, with the reason. */
const allowedNames: Readonly<Record<string, string>> = {
  settled: 'the state of a promise',
  round: 'a function of PostgreSQL',
};

/** The words of an identifier in camel case or snake case. */
const wordsOf = (identifier: string): string[] =>
  identifier
    .replaceAll(/([a-z\d])([A-Z])/g, '$1_$2')
    .replaceAll(/([A-Z])([A-Z][a-z])/g, '$1_$2')
    .toLowerCase()
    .split(/[_$\d-]+/);

/** What to write instead of an identifier with a banned word; undefined if it has none. */
export function betterName(path: string, identifier: string): string | undefined {
  if (Object.hasOwn(allowedNames, identifier)) return undefined;
  if (server.test(path) && Object.hasOwn(serverNames, identifier)) return serverNames[identifier];
  if (limit.test(identifier)) return 'max…, min…';
  const snake = Object.keys(allowedPhrases).reduce(
    (text, phrase) => text.replaceAll(`_${phrase}_`, '_'),
    `_${wordsOf(identifier).join('_')}_`,
  );
  const phrase = Object.keys(phrases).find((each) => snake.includes(`_${each}_`));
  if (phrase !== undefined) return phrases[phrase];
  const words = snake.split('_');
  return rules.find(
    ({ within, isAlone, words: banned }) =>
      (within?.test(path) ?? true) &&
      (isAlone ? banned.test(identifier.toLowerCase()) : words.some((word) => banned.test(word))),
  )?.instead;
}
