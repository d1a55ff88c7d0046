import type { EnvironmentKind, ResourceType } from '@millrace/contract/plain';
import type { z } from 'zod';
import type { EnvironmentClient } from '../api/environment-client.ts';

/** The source or target environment. */
export interface Remote {
  readonly client: EnvironmentClient;
  readonly project: string;
  readonly environment: EnvironmentKind;
  /** Parameters of operations that need both. */
  readonly params: { readonly projectRef: string; readonly env: string };
}

export interface PlanOptions {
  /** Whether differing objects are overwritten with the value from the file. */
  readonly override: boolean;
  /** Whether schedules are created inactive. */
  readonly inactive: boolean;
}

/**
 * The action of an import for a record. `create`: it does not exist. `change`: it differs. `same`: nothing to do. `keep`: it differs and is
 * kept. `by-hand`: the file lacks a secret. `waits`: an object that it needs does not exist yet. `left-out`: it is not possible in this
 * environment.
 */
export type Action = 'create' | 'change' | 'same' | 'keep' | 'by-hand' | 'waits' | 'left-out';

export interface Step {
  readonly kind: string;
  readonly name: string;
  readonly action: Action;
  readonly note?: string | undefined;
  /** For `create` and `change`. Returns data that only this response contains, such as a new secret. */
  readonly apply?: () => Promise<string | undefined>;
}

/** A kind of object in an export: its format, how to read it from an environment, and how to create it in another one. */
export interface Part<R = unknown> {
  readonly kind: string;
  readonly record: z.ZodType<R>;
  /** The resource for which a restricted key needs permission. `admin`: only an unrestricted key may write it. */
  readonly on: ResourceType;
  readonly isAdmin?: true;
  read(remote: Remote, options: { readonly secrets: boolean }): AsyncIterable<R>;
  plan(records: readonly R[], remote: Remote, options: PlanOptions): Promise<Step[]>;
}

/** The step for an object with a single value, depending on whether it exists and is equal. */
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
  return { kind, name, action: 'keep', note: 'differs here: --override replaces it' };
}

/** Whether two values are the same JSON, regardless of the order of members. */
export const isSameJson = (first: unknown, second: unknown): boolean =>
  canonical(first) === canonical(second);

const canonical = (value: unknown): string =>
  JSON.stringify(value, (_, member: unknown) =>
    typeof member === 'object' && member !== null && !Array.isArray(member)
      ? Object.fromEntries(Object.entries(member).toSorted(([a], [b]) => (a < b ? -1 : 1)))
      : member,
  );
