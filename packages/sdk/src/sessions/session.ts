import type {
  CreatedSession as WireCreated,
  ListedSession as WireListed,
  Session as WireSession,
  SessionTriggerConfig,
} from '@millrace/contract';

const dateFields = ['closedAt', 'expiresAt', 'createdAt', 'updatedAt'] as const;
type DateField = (typeof dateFields)[number];
type Dated<T> = { readonly [K in keyof T]: K extends DateField ? Date | Extract<T[K], null> : T[K] };

/** A session as returned in lists. */
export type ListedSession = Dated<WireListed>;
export type Session = Dated<WireSession>;
/** A started session, with the run that serves it and a token for a browser. */
export type StartedSession = Dated<WireCreated>;
/** How the runs that serve a session are started. */
export type SessionRuns = SessionTriggerConfig;

/** A session from the API, with its times as dates. */
export function fromWire<T extends WireListed>(wire: T): Dated<T> {
  const copy: Record<string, unknown> = { ...wire };
  for (const field of dateFields) if (typeof copy[field] === 'string') copy[field] = new Date(copy[field]);
  return copy as Dated<T>;
}

/** A session by its id or external id, or the session itself. */
export type SessionReference = string | { readonly id: string };

export function sessionAddress(session: SessionReference): string {
  const address: unknown =
    typeof session === 'string' ? session : (session as { id?: unknown } | undefined)?.id;
  if (typeof address === 'string' && address !== '') return address;
  throw new TypeError('Pass the id of the session, its external id or the session itself.');
}
