import type { VariableDifference, VariableRevision as WireRevision } from '@millrace/contract';
import { pages, type PageList } from '../client/page.ts';
import { addressed } from './address.ts';
import { areNamed, areRevisions, expected } from './expected.ts';

/** One change of an environment's variables: who made it (`userId`, `credentialId`), when (`at`), and the names. Never a value. */
export type VariableRevision = Omit<WireRevision, 'at'> & { at: Date };

/** The differences between two revisions. Values of secret variables are `<redacted>`. */
export interface VariableComparison {
  from: number;
  to: number;
  changes: VariableDifference[];
}

/** The result of a rollback. */
export interface RolledBack {
  success: boolean;
  /** The revision that is now in effect. */
  revision: number;
  changes: WireRevision['changes'];
}

/**
 * The history of an environment's own variables, newest change first. Await the result for the first 25, or iterate over it for all.
 *
 * @example
 * for await (const { revision, at, changes } of envvars.history()) {
 *   console.log(revision, at, changes.map(({ name }) => name));
 * }
 */
export function history(projectRef: string, env: string): PageList<VariableRevision>;
export function history(): PageList<VariableRevision>;
export function history(...args: readonly string[]): PageList<VariableRevision> {
  const pending = addressed(args, 0);
  // The caller receives the rejection when it awaits the pages.
  pending.catch(() => {});
  return pages(
    async ({ after }) => {
      const { client, params } = await pending;
      const query = { 'page[after]': after };
      const reply = await client.call('listVariableRevisions', { params: { ...params }, query });
      const page = expected(reply, areRevisions, 'data');
      const data = page.data.map((revision) => ({ ...revision, at: new Date(revision.at) }));
      return { data, pagination: page.pagination };
    },
    { after: undefined, before: undefined },
  );
}

/**
 * The differences between two revisions of an environment's own variables; without `to`, between one and the present. Throws a NotFoundError
 * for a revision that is not in the history.
 *
 * @example
 * const { changes } = await envvars.diff({ from: 12 });
 */
export function diff(
  projectRef: string,
  env: string,
  range: { from: number; to?: number },
): Promise<VariableComparison>;
export function diff(range: { from: number; to?: number }): Promise<VariableComparison>;
export async function diff(
  ...args: readonly (string | { from: number; to?: number })[]
): Promise<VariableComparison> {
  const { client, params, rest } = await addressed<[{ from: number; to?: number }]>(args, 1);
  const { from, to } = rest[0];
  const reply = await client.call('compareVariableRevisions', { params: { ...params }, query: { from, to } });
  return expected(reply, areNamed, 'changes');
}

/**
 * Restores an environment's own variables to a revision, as a new revision. Throws a NotFoundError for a revision that is not in the history.
 *
 * @example
 * await envvars.rollback({ revision: 12 });
 */
export function rollback(projectRef: string, env: string, to: { revision: number }): Promise<RolledBack>;
export function rollback(to: { revision: number }): Promise<RolledBack>;
export async function rollback(...args: readonly (string | { revision: number })[]): Promise<RolledBack> {
  const { client, params, rest } = await addressed<[{ revision: number }]>(args, 1);
  const reply = await client.call('rollBackVariables', { params: { ...params }, body: rest[0] });
  return expected(reply, areNamed, 'changes');
}
