import { formatVersion, type Head, type Lines } from './file.ts';
import type { Remote } from './part.ts';
import { parts } from './parts/index.ts';
import { finishedRuns, waitingRuns, type NotExported } from './runs.ts';

export interface ExportOptions {
  readonly only: ReadonlySet<string>;
  /** Whether to include the values of secret variables. */
  readonly secrets: boolean;
  /** Finished runs to include; within this period, such as `30d`. */
  readonly finished: { readonly period?: string | undefined } | undefined;
  readonly millrace: string;
  readonly branch?: string | undefined;
  readonly onRecord: (counts: ReadonlyMap<string, number>) => void;
}

export interface Exported {
  /** Records by kind. */
  readonly counts: ReadonlyMap<string, number>;
  /** Secret variables whose values were not written. */
  readonly secretsLeftOut: readonly string[];
  /** Numbers of live runs that were not written, by reason. */
  readonly runsLeftOut: ReadonlyMap<NotExported, number>;
}

/** Writes an environment: a line that describes the file, a line for each record, and a closing line. */
export async function exportEnvironment(
  remote: Remote,
  lines: Lines,
  { only, secrets, finished, millrace, branch, onRecord }: ExportOptions,
): Promise<Exported> {
  const counts = new Map<string, number>();
  const secretsLeftOut: string[] = [];
  const runsLeftOut = new Map<NotExported, number>();
  const head: Head = {
    kind: 'millrace-export',
    version: formatVersion,
    millrace,
    exportedAt: new Date().toISOString(),
    project: remote.project,
    environment: remote.environment,
    ...(branch !== undefined && { branch }),
  };
  await lines.write(head);
  let records = 0;
  const write = async (kind: string, value: object): Promise<void> => {
    await lines.write({ kind, ...value });
    records += 1;
    counts.set(kind, (counts.get(kind) ?? 0) + 1);
    onRecord(counts);
  };
  for (const part of parts) {
    if (!only.has(part.kind)) continue;
    for await (const record of part.read(remote, { secrets })) {
      const value = record as { name?: string; isSecret?: boolean; value?: string };
      if (part.kind === 'variable' && value.isSecret && value.value === undefined)
        secretsLeftOut.push(value.name ?? '');
      await write(part.kind, value);
    }
  }
  if (only.has('run')) {
    const leaveOut = (why: NotExported): void => void runsLeftOut.set(why, (runsLeftOut.get(why) ?? 0) + 1);
    for await (const run of waitingRuns(remote.client, leaveOut)) await write('run', run);
  }
  if (finished)
    for await (const run of finishedRuns(remote.client, finished.period)) await write('finished-run', run);
  await lines.write({ kind: 'end', records });
  return { counts, secretsLeftOut, runsLeftOut };
}
