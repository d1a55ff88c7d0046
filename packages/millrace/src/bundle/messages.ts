import { dirname, join, relative, sep } from 'node:path';
import { explainMissing, packageOf, type Problem } from '@millrace/diagnostics';
import type { BuildFailure, Message } from 'esbuild';

export const slashes = (path: string): string => path.split(sep).join('/');

/** A path inside a build, with forward slashes. */
export const inBuild = (path: string, outdir: string): string => slashes(relative(outdir, path));

export const isBuildFailure = (error: unknown): error is BuildFailure =>
  error instanceof Error && Array.isArray((error as Partial<BuildFailure>).errors);

/** Advice for an import that cannot be resolved. */
function adviceOn({ text, notes, location }: Message, projectDir: string): string {
  // Decorator metadata refers to all types imported without `type`.
  if (text.startsWith('No matching export in ')) return ': import a type with `import type`';
  const specifier = /^Could not resolve "([^"]+)"$/.exec(text)?.[1];
  const name = specifier === undefined ? undefined : packageOf(specifier);
  if (name === undefined) return '';
  const notExported = notes.find((note) => note.text.includes('is not exported by package'));
  if (specifier !== undefined && notExported?.location?.file.endsWith('package.json')) {
    const folder = join(projectDir, dirname(notExported.location.file));
    return `: ${explainMissing(specifier.slice(name.length), folder, location ? join(projectDir, location.file) : undefined)}`;
  }
  return `: is the package installed? Run \`npm install\`, or \`npm install ${name}\` if package.json does not list it`;
}

/** The problem in an esbuild message. `entry` is the file that was built, for messages without a location. */
export const problemOf = (message: Message, entry: string, projectDir: string): Problem => ({
  file: message.location ? slashes(message.location.file) : entry,
  line: message.location?.line ?? null,
  column: message.location ? message.location.column + 1 : null,
  message: message.text + adviceOn(message, projectDir),
});
