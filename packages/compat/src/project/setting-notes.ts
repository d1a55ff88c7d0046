import { entryOf, hasMembers } from '../support/table.ts';

/** Values that need no note, because they have the same effect here. */
const same: Readonly<Record<string, unknown>> = {
  'build.autoDetectExternal': true,
  'build.experimental_autoDetectExternal': true,
  'build.keepNames': true,
  'build.experimental_keepNames': true,
  'build.minify': false,
  'build.experimental_minify': false,
  legacyDevProcessCwdBehaviour: true,
  disableConsoleInterceptor: false,
  enableConsoleLogging: false,
};

export interface SettingNotes {
  /** Messages about settings that have a different meaning here, or none. */
  readonly notes: readonly string[];
  /** Settings that the table does not have. */
  readonly unknown: readonly string[];
}

/** Examines the settings of a configuration. */
export function settingNotes(exported: object, path = ''): SettingNotes {
  const notes: string[] = [];
  const unknown: string[] = [];
  for (const [own, value] of Object.entries(exported) as [string, unknown][]) {
    if (value === undefined) continue;
    const name = path + own;
    const entry = entryOf('config', name);
    if (!entry) {
      unknown.push(name);
      continue;
    }
    const within =
      hasMembers('config', name) && typeof value === 'object' && value !== null
        ? settingNotes(value, `${name}.`)
        : { notes: [], unknown: [] };
    if (entry.state !== 'works' && within.notes.length === 0) notes.push(...noteOf(name, value, entry.note));
    notes.push(...within.notes);
    unknown.push(...within.unknown);
  }
  return { notes, unknown };
}

function noteOf(name: string, value: unknown, note = ''): string[] {
  if (name === 'project' || same[name] === value) return [];
  if (name !== 'runtime') return [`${name}: ${note}`];
  return /^node(?:-\d+)?$/.test(String(value)) ? [] : [`runtime: "${String(value)}" is not used: ${note}`];
}
