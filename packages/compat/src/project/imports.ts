import { exportRows, type ExportRow } from './exports.ts';

/** A use of the published SDK that differs or is not supported here. */
export interface Finding {
  /** Relative to the project. */
  readonly file: string;
  readonly line: number;
  readonly column: number;
  /** The name of the used export or module. */
  readonly name: string;
  readonly state: 'differs' | 'not';
  readonly note: string;
}

export interface Uses {
  /** Names of exports that work unchanged. */
  readonly working: ReadonlySet<string>;
  readonly findings: readonly Finding[];
}

/** Their other entry points and packages. Packages that are not listed are ordinary ones. */
const modules: Readonly<Record<string, string>> = {
  '@trigger.dev/sdk/oidc/aws':
    'Millrace does not issue OIDC tokens: set credentials for the task as variables',
  '@trigger.dev/python': 'Python is not part of a deployment here: start scripts with node:child_process',
};

const imported = /\b(?:import|export)\s+(type\s+)?([^'"();]*?)\s*\bfrom\s*['"](@trigger\.dev\/[^'"]+)['"]/g;

/** The uses of the published SDK in a file of a project. */
export function usesOf(file: string, text: string): Uses {
  const rows = new Map(exportRows.map((row) => [row.name, row]));
  const working = new Set<string>();
  const findings: Finding[] = [];
  const add = (at: number, name: string, { state, note = '' }: Pick<ExportRow, 'state' | 'note'>): void => {
    if (state === 'works') working.add(name);
    else findings.push({ file, ...positionOf(text, at), name, state, note });
  };
  for (const match of text.matchAll(imported)) {
    const [, type, clause = '', specifier = ''] = match;
    if (type !== undefined) continue;
    const note = modules[specifier];
    if (note !== undefined) add(match.index, specifier, { state: 'not', note });
    if (!/^@trigger\.dev\/sdk(?:\/v3)?$/.test(specifier)) continue;
    for (const [name, local] of namesIn(clause)) {
      const row = rows.get(name);
      if (row) add(match.index + match[0].indexOf(name), name, row);
      // An unsupported member of a supported export.
      for (const member of exportRows.filter((other) => other.name.startsWith(`${name}.`))) {
        const used = text.search(
          new RegExp(`\\b${local}${member.name.slice(name.length).replace('.', '\\s*\\.\\s*')}\\b`),
        );
        if (used >= 0) add(used, member.name, member);
      }
    }
  }
  return { working, findings };
}

/** The imported names and their local names in the file, without types. */
function namesIn(clause: string): [string, string][] {
  const braces = /\{([^}]*)\}/.exec(clause)?.[1] ?? '';
  return braces
    .split(',')
    .map((part) => part.trim())
    .filter((part) => part !== '' && !part.startsWith('type '))
    .map((part) => {
      const [name = '', local = name] = part.split(/\s+as\s+/);
      return [name, local];
    });
}

function positionOf(text: string, at: number): { line: number; column: number } {
  const before = text.slice(0, at).split('\n');
  return { line: before.length, column: (before.at(-1)?.length ?? 0) + 1 };
}
