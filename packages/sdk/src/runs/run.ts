import type { Run as WireRun } from '@millrace/contract';
import type { Serialized } from '../payload/serialized.ts';
import type { RunHandle } from '../task/types.ts';

const dateFields = [
  'createdAt',
  'updatedAt',
  'startedAt',
  'finishedAt',
  'delayedUntil',
  'expiredAt',
  'erasedAt',
] as const;
type DateField = (typeof dateFields)[number];

/** A wire object with its times as dates. */
export type Dated<T> = { [K in keyof T]: K extends DateField ? Date | Extract<T[K], undefined> : T[K] };

type WireRelated = NonNullable<WireRun['relatedRuns']['root']>;

/** A run as returned with its parent, root or child: without payload and output. */
export type RelatedRun = Dated<WireRelated>;

/** A run. Times are dates; `durationMs` is the total of all attempts, in milliseconds; `ttl` is the value that was given. */
export type Run<TOutput = unknown> = Omit<
  Dated<WireRun>,
  'output' | 'relatedRuns' | `${'payload' | 'output'}PresignedUrl`
> & {
  /** The task's return value, as plain JSON. Undefined unless the run is COMPLETED. */
  output?: Serialized<TOutput> | undefined;
  relatedRuns: { root?: RelatedRun; parent?: RelatedRun; children?: RelatedRun[] };
};

/** A run by its id (`run_…`) or by the handle that `trigger` returned. */
export type RunReference = string | Pick<RunHandle, 'id'>;

/** Validates input from untyped callers. */
export function runId(run: RunReference): string {
  const id: unknown = typeof run === 'string' ? run : (run as { id?: unknown } | undefined)?.id;
  if (typeof id === 'string' && id !== '') return id;
  throw new TypeError('Pass the id of the run (run_…) or the handle that trigger returned.');
}

export function dated<T extends Partial<Record<DateField, string | undefined>>>(wire: T): Dated<T> {
  const copy: Record<string, unknown> = { ...wire };
  for (const field of dateFields) if (typeof wire[field] === 'string') copy[field] = new Date(wire[field]);
  return copy as Dated<T>;
}

/** A run from the API, with its times as dates. */
export function fromWire<TOutput>(wire: WireRun): Run<TOutput> {
  const { root, parent, children } = wire.relatedRuns ?? {};
  return {
    ...dated(wire),
    relatedRuns: {
      ...(root && { root: dated(root) }),
      ...(parent && { parent: dated(parent) }),
      ...(children && { children: children.map(dated) }),
    },
  } as Run<TOutput>;
}
