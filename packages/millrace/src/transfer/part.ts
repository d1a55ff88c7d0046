import type { EnvironmentKind, ResourceType } from '@millrace/contract/plain';
import type { z } from 'zod';
import type { EnvironmentClient } from './client.ts';

/** The environment that is read or written. */
export interface Remote {
  readonly client: EnvironmentClient;
  readonly project: string;
  readonly environment: EnvironmentKind;
  /** Parameters of operations that name both. */
  readonly params: { readonly projectRef: string; readonly env: string };
}

export interface PlanOptions {
  /** What differs takes the value of the file. */
  readonly override: boolean;
  /** Schedules are created inactive. */
  readonly inactive: boolean;
}

/**
 * What an import does with a record. `create`: it is not there. `change`: it differs. `same`: nothing to do. `keep`: it differs, and stays.
 * `by-hand`: the file lacks a secret. `waits`: something that it needs is not there yet. `left-out`: this environment cannot have it.
 */
export type Action = 'create' | 'change' | 'same' | 'keep' | 'by-hand' | 'waits' | 'left-out';

export interface Step {
  readonly kind: string;
  readonly name: string;
  readonly action: Action;
  readonly note?: string | undefined;
  /** Of `create` and `change`. Returns what only this answer has, such as a new secret. */
  readonly apply?: () => Promise<string | undefined>;
}

/** A kind of thing in an export: how it is written, read from an environment, and made in another one. */
export interface Part<R = unknown> {
  readonly kind: string;
  readonly record: z.ZodType<R>;
  /** What a restricted key needs a right on. `admin`: only an unrestricted key may write it. */
  readonly on: ResourceType;
  readonly isAdmin?: true;
  read(remote: Remote, options: { readonly secrets: boolean }): AsyncIterable<R>;
  plan(records: readonly R[], remote: Remote, options: PlanOptions): Promise<Step[]>;
}

/** Makes the step of something that has one value, from whether it is there and the same. */
export function compared(
  {
    kind,
    name,
    is,
    override,
  }: { kind: string; name: string; is: 'missing' | 'same' | 'other'; override: boolean },
  apply: () => Promise<string | undefined>,
): Step {
  if (is === 'same') return { kind, name, action: 'same' };
  if (is === 'missing') return { kind, name, action: 'create', apply };
  if (override) return { kind, name, action: 'change', apply };
  return { kind, name, action: 'keep', note: 'differs here: --override takes that of the file' };
}

/** Whether two values are the same JSON, whatever the order of members. */
export const isSameJson = (one: unknown, other: unknown): boolean => canonical(one) === canonical(other);

const canonical = (value: unknown): string =>
  JSON.stringify(value, (_, member: unknown) =>
    typeof member === 'object' && member !== null && !Array.isArray(member)
      ? Object.fromEntries(Object.entries(member).toSorted(([a], [b]) => (a < b ? -1 : 1)))
      : member,
  );
