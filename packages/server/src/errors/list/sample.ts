import { maxSampleMessage } from '@millrace/contract';
import { isUser, type Principal } from '../../auth/principal.ts';
import { allows } from '../../auth/scopes.ts';
import type { Fragment, Queryable } from '../../db/connect.ts';

/** The message of the first error of the group `g`, as thrown. */
export const sampleMessage = (sql: Queryable): Fragment => sql`
  (select left(s.sample ->> 'message', ${maxSampleMessage}) from error_samples s where s.fingerprint_id = g.number)`;

/** A group in the form that the caller may see: without the message of a run unless the caller may read all runs. */
export function shownTo<T extends { readonly sampleMessage?: string | undefined }>(
  principal: Principal,
  group: T,
): T {
  if (isUser(principal) || allows(principal.scopes, 'read', [{ type: 'runs' }])) return group;
  const { sampleMessage: _, ...others } = group;
  return others as T;
}
