import { type Entry, entryOf, type Kind, type State, supportTable } from '../support/table.ts';
import { isNewer, unknownNote } from '../support/newer.ts';
import { codeOf } from './code-of.ts';
import { importedNames, type ImportedName } from './imported-names.ts';
import type { Source } from './literals.ts';
import { declaredOptions, pathPattern, triggerOptions } from './options-in.ts';
import { positionOf } from './position.ts';

/** A use of the published SDK that differs, has no effect or is not supported here. */
export interface Finding {
  /** Relative to the project. */
  readonly file: string;
  readonly line: number;
  readonly column: number;
  /** The export, the module, or the option with its kind, such as `option concurrency of trigger`. */
  readonly name: string;
  readonly state: Exclude<State, 'works'>;
  readonly note: string;
}

export interface Uses {
  /** Names of exports that work unchanged. */
  readonly working: ReadonlySet<string>;
  /** The options that are set, as `<kind> <name>`. */
  readonly options: ReadonlySet<string>;
  readonly findings: readonly Finding[];
}

const kindOf = (specifier: string): Kind | undefined =>
  /^@trigger\.dev\/sdk(?:\/v3)?$/.test(specifier)
    ? 'export'
    : specifier === '@trigger.dev/sdk/ai'
      ? 'agents'
      : undefined;

/** The uses of the published SDK in a file of a project. `version` is that of the project's copy. */
export function usesOf(file: string, text: string, version: string): Uses {
  const source: Source = { text, code: codeOf(text) };
  const working = new Set<string>();
  const options = new Set<string>();
  const findings: Finding[] = [];
  const add = (at: number, name: string, { state, note = '' }: Pick<Entry, 'state' | 'note'>): void => {
    if (state !== 'works') findings.push({ file, ...positionOf(text, at), name, state, note });
  };
  const unknown = { state: 'not' as const, note: unknownNote(version) };
  const names = importedNames(source, codeOf(text, { strings: true }));
  for (const imported of names) {
    const { specifier, name, at } = imported;
    const kind = kindOf(specifier);
    if (name === undefined)
      add(at, specifier, entryOf('module', packageEntry(specifier)) ?? { state: 'works' });
    else if (kind !== undefined) {
      const entry = entryOf(kind, name);
      if (entry) add(at, name, entry);
      // Types are imported without a mark, so only names of functions and objects are known to be values.
      else if (kind === 'export' && isNewer(version) && /^[a-z]/.test(name)) add(at, name, unknown);
      if (entry?.state === 'works') working.add(name);
      if (entry?.state !== 'not')
        for (const found of membersIn(source, kind, imported)) add(found.at, found.entry.name, found.entry);
    }
  }
  const locals = new Map(
    names.map(({ specifier, name, local }) => [kindOf(specifier) === 'export' ? name : undefined, local]),
  );
  for (const { at, kind, name, entry } of [
    ...declaredOptions(source, (exported) => locals.get(exported)),
    ...triggerOptions(source),
  ]) {
    options.add(`${kind} ${name}`);
    if (kind === 'config') continue;
    if (entry) add(at, `option ${name} of ${kind}`, entry);
    else if (isNewer(version) && kind !== 'trigger' && kind !== 'batch')
      add(at, `option ${name} of ${kind}`, unknown);
  }
  return { working, options, findings: inOrder(findings) };
}

/** `@trigger.dev/build/extensions/core` is part of `@trigger.dev/build`; the entry points of the SDK have rows of their own. */
const packageEntry = (specifier: string): string =>
  specifier.startsWith('@trigger.dev/sdk') ? specifier : specifier.split('/').slice(0, 2).join('/');

/** The members of an export that do not work unchanged, without members of those. */
function membersIn({ code }: Source, kind: Kind, { name = '', local }: ImportedName) {
  const found: { readonly at: number; readonly entry: Entry }[] = [];
  if (local === undefined) return found;
  for (const entry of supportTable) {
    if (entry.kind !== kind || entry.state === 'works' || !entry.name.startsWith(`${name}.`)) continue;
    if (found.some(({ entry: outer }) => entry.name.startsWith(`${outer.name}.`))) continue;
    const at = code.search(new RegExp(`${pathPattern(local + entry.name.slice(name.length))}(?![\\w$])`));
    if (at >= 0) found.push({ at, entry });
  }
  return found;
}

const inOrder = (findings: readonly Finding[]): Finding[] =>
  findings.toSorted((a, b) => a.line - b.line || a.column - b.column);
