import { ServerUnreachable } from '../api/errors.ts';
import { readExport, type Head } from './file.ts';
import type { Remote, PlanOptions, Step } from './part.ts';
import { parts } from './parts/index.ts';
import type { WaitingRun } from './runs.ts';
import { triggerRuns, type Imported } from './trigger-runs.ts';

export interface Contents {
  readonly head: Head;
  /** Records other than runs, by kind. */
  readonly records: ReadonlyMap<string, readonly object[]>;
  /** Number of records by kind. */
  readonly counts: ReadonlyMap<string, number>;
}

/** Reads and validates a whole file. Runs are counted but not kept in memory. */
export async function readContents(file: string): Promise<Contents> {
  let head: Head | undefined;
  const records = new Map<string, object[]>();
  const counts = new Map<string, number>();
  for await (const entry of readExport(file)) {
    if (!('value' in entry)) {
      head = entry;
      continue;
    }
    counts.set(entry.kind, (counts.get(entry.kind) ?? 0) + 1);
    if (entry.kind === 'run' || entry.kind === 'finished-run') continue;
    const list = records.get(entry.kind) ?? [];
    list.push(entry.value);
    records.set(entry.kind, list);
  }
  if (!head) throw new TypeError('a file that was read has its first line');
  return { head, records, counts };
}

/** Compares the records of a file with an environment, without changing anything. */
export async function planImport(
  { records }: Contents,
  remote: Remote,
  { only, ...options }: PlanOptions & { readonly only: ReadonlySet<string> },
): Promise<Step[]> {
  const steps: Step[] = [];
  for (const part of parts) {
    const found = records.get(part.kind);
    if (found && only.has(part.kind)) steps.push(...(await part.plan(found, remote, options)));
  }
  return steps;
}

export interface Done {
  readonly step: Step;
  /** Data that only the response contained, such as a new secret. */
  readonly secret?: string | undefined;
  readonly error?: string;
}

/** Applies the steps in sequence. A rejected step does not stop the others; an unreachable server does. */
export async function* applySteps(steps: readonly Step[]): AsyncGenerator<Done> {
  for (const step of steps) {
    if (!step.apply) {
      yield { step };
      continue;
    }
    try {
      yield { step, secret: await step.apply() };
    } catch (error) {
      if (error instanceof ServerUnreachable) throw error;
      yield { step, error: (error as Error).message };
    }
  }
}

/** Triggers the runs of a validated file, reading it again. */
export const importRuns = ({ client }: Remote, file: string): AsyncGenerator<Imported> =>
  triggerRuns(client, runsOf(file));

async function* runsOf(file: string): AsyncGenerator<WaitingRun> {
  for await (const entry of readExport(file))
    if ('value' in entry && entry.kind === 'run') yield entry.value as WaitingRun;
}
