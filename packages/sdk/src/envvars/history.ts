import type { VariableDifference, VariableRevision as WireRevision } from '@millrace/contract';
import { pages, type PageList } from '../client/page.ts';
import { addressed } from './address.ts';
import { areNamed, areRevisions, expected } from './expected.ts';

/** One change of an environment's variables: who (`userId`, `credentialId`), when (`at`), which names. Never a value. */
export type VariableRevision = Omit<WireRevision, 'at'> & { at: Date };

/** How variables differ between two revisions; values of secret ones are `<redacted>`. */
export interface VariableComparison {
  from: number;
  to: number;
  changes: VariableDifference[];
}

/** What a rollback did. */
export interface RolledBack {
  success: boolean;
  /** The revision that is in force now. */
  revision: number;
  changes: WireRevision['changes'];
}

/**
 * The history of an environment's own variables, the newest change first. Await it for the first 25, or iterate it for all.
 *
 * @example
 * for await (const { revision, at, changes } of envvars.history()) {
 *   console.log(revision, at, changes.map(({ name }) => name));
 * }
 */
export function history(projectRef: string, env: string): PageList<VariableRevision>;
export function history(): PageList<VariableRevision>;
export function history(...given: readonly string[]): PageList<VariableRevision> {
  const asked = addressed(given, 0);
  // Whoever awaits the pages hears of it.
  asked.catch(() => {});
  return pages(
    async ({ after }) => {
      const { client, params } = await asked;
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
 * How an environment's own variables differ between two revisions; without `to`, between one and now. Throws a NotFoundError for a
 * revision that the history does not hold.
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
  ...given: readonly (string | { from: number; to?: number })[]
): Promise<VariableComparison> {
  const { client, params, rest } = await addressed<[{ from: number; to?: number }]>(given, 1);
  const { from, to } = rest[0];
  const reply = await client.call('compareVariableRevisions', { params: { ...params }, query: { from, to } });
  return expected(reply, areNamed, 'changes');
}

/**
 * Makes an environment's own variables what they were at a revision, as a new revision. Throws a NotFoundError for one that the
 * history does not hold.
 *
 * @example
 * await envvars.rollback({ revision: 12 });
 */
export function rollback(projectRef: string, env: string, to: { revision: number }): Promise<RolledBack>;
export function rollback(to: { revision: number }): Promise<RolledBack>;
export async function rollback(...given: readonly (string | { revision: number })[]): Promise<RolledBack> {
  const { client, params, rest } = await addressed<[{ revision: number }]>(given, 1);
  const reply = await client.call('rollBackVariables', { params: { ...params }, body: rest[0] });
  return expected(reply, areNamed, 'changes');
}
