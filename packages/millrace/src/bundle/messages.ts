import { relative, sep } from 'node:path';
import type { BuildFailure, Message } from 'esbuild';
import type { Problem } from '../project/problem.ts';

export const slashes = (path: string): string => path.split(sep).join('/');

/** A path inside of a build, with forward slashes. */
export const inBuild = (path: string, outdir: string): string => slashes(relative(outdir, path));

export const isBuildFailure = (error: unknown): error is BuildFailure =>
  error instanceof Error && Array.isArray((error as Partial<BuildFailure>).errors);

/** What esbuild says of a file. `entry` is the file that was built, for messages without a location. */
export const problemOf = ({ text, location }: Message, entry: string): Problem => ({
  file: location ? slashes(location.file) : entry,
  line: location?.line ?? null,
  column: location ? location.column + 1 : null,
  message: text,
});
