import { useAsk } from '../../api/ask.ts';
import { useProject, useSession } from '../../api/session.ts';

/** The name of a user of the organization, or the id of a former member. */
export function useNameOf(): (userId: string) => string {
  const { user } = useSession();
  const organization = useProject()?.organization.id ?? '';
  const members = useAsk(
    'listMembers',
    { params: { organization } },
    { inEnvironment: false, enabled: organization !== '' },
  );
  return (userId) =>
    userId === user.id ? 'you' : (members.data?.find((member) => member.userId === userId)?.name ?? userId);
}
