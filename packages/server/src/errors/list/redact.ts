import type { ErrorGroup, ErrorGroupDetail } from '@millrace/contract';
import { isUser, type Principal } from '../../auth/principal.ts';
import { allows } from '../../auth/scopes.ts';
import { notFound } from '../../problem.ts';

/**
 * A group in the form that the caller may see: without the message of a run unless the caller may read all runs, and in a public token without
 * the email address of a member.
 */
export function shownTo<T extends Pick<ErrorGroup, 'sampleMessage' | 'ownership'>>(
  principal: Principal,
  group: T,
): T {
  if (isUser(principal)) return group;
  const hidesOwner = principal.kind === 'publicToken' && group.ownership.source === 'member';
  const visible = hidesOwner ? { ...group, ownership: { ...group.ownership, owner: null } } : group;
  if (allows(principal.scopes, 'read', [{ type: 'runs' }])) return visible;
  const { sampleMessage: _, ...others } = visible;
  return others as T;
}

/** The changed group in the form that the caller may see; 404 if it does not exist. */
export function found(principal: Principal, group: ErrorGroupDetail | undefined): ErrorGroupDetail {
  if (!group) throw notFound('Resource not found');
  return shownTo(principal, group);
}
