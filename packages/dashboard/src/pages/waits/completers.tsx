import { useEnvironment } from '../../api/environment.ts';
import { allows, useSession } from '../../api/session.ts';
import { PageLink } from '../../parts/page-link.tsx';
import { Person, usePeople } from '../../parts/people.tsx';
import type { TokenDetails } from '@millrace/contract';

const maxNames = 5;

/** Who may complete a waiting token. */
export function Completers({ event }: { readonly event: string | undefined }) {
  const { user } = useSession();
  const isDev = useEnvironment().kind === 'dev';
  const people = [...usePeople().values()].filter(({ role }) =>
    allows(role, 'completeWaitpointToken', isDev),
  );
  const names = [
    ...people.filter(({ userId }) => userId === user.id).map(() => 'you'),
    ...people.filter(({ userId }) => userId !== user.id).map(({ name }) => name),
  ];
  const more = names.length - maxNames;
  return (
    <span>
      {names.length > 0 && (
        <>
          {names.slice(0, maxNames).join(', ')}
          {more > 0 && ` and ${more} more`};{' '}
        </>
      )}
      code with a secret key; anyone with its address
      {event !== undefined && (
        <>
          ; the event <span className="mono">{event}</span>
        </>
      )}
    </span>
  );
}

/** Who completed a token. */
export function CompletedBy({ by: { type, id } }: { readonly by: NonNullable<TokenDetails['completedBy']> }) {
  if (type === 'url') return <span>its address</span>;
  if (id === undefined) return <span>a public token</span>;
  if (type === 'user') return <Person id={id} />;
  if (type === 'event') return <PageLink to={`/events/${id}`}>an event</PageLink>;
  if (type === 'run') return <PageLink to={`/runs/${id}`}>a run</PageLink>;
  return (
    <span>
      the secret key <span className="mono">{id}</span>
    </span>
  );
}
