import { ProjectError } from '@millrace/diagnostics';
import { parts } from '@millrace/template';

type Members = Record<string, unknown>;
const sections = ['scripts', 'dependencies', 'devDependencies', 'allowScripts'] as const;
type Section = (typeof sections)[number];

export interface CompletedManifest {
  readonly text: string;
  /** Names of the added members, by section; sections without any are omitted. */
  readonly added: Readonly<Partial<Record<Section, readonly string[]>>>;
}

/**
 * Adds the requirements of a Millrace project to the text of a package.json. Existing members, their order and the indentation are
 * preserved. A package that is in any list of dependencies is not added. `types` is the command that checks types.
 */
export function completeManifest(text: string, version: string, types: string): CompletedManifest {
  const needed = parts(version);
  return withParts(text, { ...needed, scripts: { ...needed.scripts, types } });
}

/** Adds the members of `needed`, as `completeManifest` does. */
export function withParts(text: string, needed: Readonly<Record<Section, Members>>): CompletedManifest {
  const manifest = parsed(text);
  const packages = ['dependencies', 'devDependencies', 'optionalDependencies', 'peerDependencies'];
  const added: Partial<Record<Section, string[]>> = {};
  for (const section of sections) {
    const own = manifest[section] ?? {};
    // A section that is not an object is not repaired.
    if (!isMembers(own)) continue;
    const lists = section.endsWith('ependencies') ? packages.map((list) => manifest[list]) : [own];
    const has = (name: string) => lists.some((list) => isMembers(list) && Object.hasOwn(list, name));
    // npm also accepts `name@version` in allowScripts.
    const isAllowed = (name: string) =>
      section === 'allowScripts' && Object.keys(own).some((key) => key.startsWith(`${name}@`));
    const missing = Object.entries(needed[section]).filter(([name]) => !has(name) && !isAllowed(name));
    if (missing.length === 0) continue;
    manifest[section] = { ...own, ...Object.fromEntries(missing) };
    added[section] = missing.map(([name]) => name);
  }
  if (Object.keys(added).length === 0) return { text, added };
  const indent = /^\s*\{\r?\n([ \t]+)"/.exec(text)?.[1] ?? 2;
  const lineEnd = text.includes('\r\n') ? '\r\n' : '\n';
  const written = `${JSON.stringify(manifest, null, indent)}\n`;
  return { text: written.replaceAll('\n', lineEnd), added };
}

/** The command to run a script: the script, or the command itself if the script already exists with different content. */
export function commandFor(text: string, script: 'dev' | 'deploy' | 'types', command: string): string {
  const { scripts } = parsed(text);
  return isMembers(scripts) && scripts[script] === command ? `npm run ${script}` : `npx ${command}`;
}

function parsed(text: string): Members {
  let value: unknown;
  try {
    value = JSON.parse(text.replace(/^\uFEFF/, ''));
  } catch (error) {
    throw invalid((error as Error).message);
  }
  if (!isMembers(value)) throw invalid('it is not an object');
  return value;
}

const invalid = (reason: string): ProjectError =>
  new ProjectError({
    file: 'package.json',
    line: null,
    column: null,
    message: `is not valid: ${reason}. Correct it first. Nothing was written.`,
  });

const isMembers = (value: unknown): value is Members =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
