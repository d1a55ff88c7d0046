import { type Entry, entryOf, hasMembers, type Kind } from '../support/table.ts';
import { callsOf, elementsOf, membersOf, type Source, type Span } from './literals.ts';

/** An option that a file of a project sets. `entry` is undefined if the table has no such option. */
export interface OptionUse {
  readonly at: number;
  readonly kind: Kind;
  readonly name: string;
  readonly entry: Entry | undefined;
}

/** The functions whose first argument has options, and the kind of those. */
const declaring: readonly (readonly [export_: string, kind: Kind])[] = [
  ['task', 'task'],
  ['schemaTask', 'task'],
  ['toolTask', 'task'],
  ['schedules.task', 'task'],
  ['queue', 'queue'],
  ['concurrencyLimit', 'limit'],
  ['webhook', 'webhook'],
  ['webhooks.endpoint.define', 'endpoint'],
  ['defineWebhookEndpoint', 'endpoint'],
  ['defineConfig', 'config'],
];

/** The options in the declarations of a file. `localOf` returns the name of an export in the file, if the file imports it. */
export function* declaredOptions(
  source: Source,
  localOf: (exportName: string) => string | undefined,
): Generator<OptionUse> {
  for (const [path, kind] of declaring) {
    const [root = '', ...members] = path.split('.');
    const local = localOf(root);
    if (local === undefined) continue;
    for (const { args } of callsOf(source, pathPattern([local, ...members].join('.'))))
      if (args[0]) yield* optionsIn(source, args[0], kind);
  }
}

const triggering = [
  'trigger',
  'triggerAndWait',
  'triggerAndSubscribe',
  'batchTrigger',
  'batchTriggerAndWait',
  'triggerByTask',
  'triggerByTaskAndWait',
].join('|');

/** The options of triggers. The task may be declared in another file, so every method with such a name counts. */
export function* triggerOptions(source: Source): Generator<OptionUse> {
  for (const { at, args } of callsOf(source, String.raw`\.\s*(?:${triggering})`)) {
    // `tasks.trigger('id', payload, options)`, in contrast to `task.trigger(payload, options)`.
    const receiver = source.code.slice(Math.max(0, at - 40), at);
    const isById = /\btasks\??\s*$/.test(receiver);
    const isBatch =
      /\bbatch\??\s*$/.test(receiver) || /^\.\s*(?:batch|triggerByTask)/.test(source.code.slice(at, at + 40));
    const items = isBatch ? args[isById ? 1 : 0] : undefined;
    for (const item of items ? elementsOf(source, items) : [])
      for (const { name, value } of membersOf(source, item))
        if (name === 'options') yield* optionsIn(source, value, 'trigger');
    const options = args[items ? args.indexOf(items) + 1 : isById ? 2 : 1];
    if (options) yield* optionsIn(source, options, items ? 'batch' : 'trigger');
  }
}

/** The options in an object literal, with the members of those that have some. */
function* optionsIn(source: Source, options: Span, kind: Kind, path = ''): Generator<OptionUse> {
  for (const element of path === '' ? [options] : elementsOf(source, options))
    for (const { name: own, at, value } of membersOf(source, element)) {
      const name = path === '' ? own : `${path}.${own}`;
      // A webhook has the options of a task too.
      const ownKind = kind === 'webhook' && !entryOf(kind, name) ? 'task' : kind;
      yield { at, kind: ownKind, name, entry: entryOf(ownKind, name) };
      if (hasMembers(ownKind, name)) yield* optionsIn(source, value, ownKind, name);
    }
}

/** A regular expression for a name and its members. */
export const pathPattern = (path: string): string =>
  String.raw`(?<![\w$.])` +
  path
    .split('.')
    .map((name) => name.replaceAll('$', String.raw`\$`))
    .join(String.raw`\s*\??\.\s*`);
