import type { Member } from '@millrace/contract';
import { useMemo } from 'react';
import { useAsk } from '../api/ask.ts';
import { useProject, useSession } from '../api/session.ts';
import { shortId } from './id-text.ts';

/** The members of the project's organization by id. */
export function usePeople(): ReadonlyMap<string, Member> {
  const organization = useProject()?.organization.id;
  const members = useAsk(
    'listMembers',
    { params: { organization: organization ?? '' } },
    { inEnvironment: false, enabled: organization !== undefined },
  );
  return useMemo(
    () => new Map((members.data ?? []).map((member) => [member.userId, member])),
    [members.data],
  );
}

/** A user: a member by name, a former member by id. `isInline`: within a sentence. */
export function Person({ id, isInline = false }: { readonly id: string; readonly isInline?: boolean }) {
  const { user } = useSession();
  const people = usePeople();
  if (id === user.id) return <span>{isInline ? 'you' : 'You'}</span>;
  const name = people.get(id)?.name;
  return (
    <span className="cut" data-tip={id}>
      {name ?? shortId(id)}
    </span>
  );
}
