import { LRUCache } from 'lru-cache';
import type { Environment } from '../auth/principal.ts';
import type { Channels } from '../channels/channels.ts';
import { sessionChannel, type ChannelKey, type Io } from '../channels/key.ts';
import type { Sql } from '../db/connect.ts';
import { maxEntries } from '../max-entries.ts';
import { notFound } from '../problem.ts';
import type { Identity, Request } from '../request.ts';
import { findSession, identitiesOf, isSessionId } from './find.ts';
import { namedParts } from './part.ts';

/** The properties of a session that never change. */
export interface KnownSession {
  readonly id: string;
  readonly externalId: string | null;
  readonly expiresAt: Date | null;
}

export interface AuthorizedChannel {
  /** Undefined if no session has this external id yet, in which case the channel is empty and may be followed. */
  readonly session: KnownSession | undefined;
  readonly key: ChannelKey;
}

type Asking = Pick<Request<never>, 'environment' | 'authorize' | 'principal'> & {
  readonly environment: Environment;
};

const maxCached = 20_000;
/** How long it may take to detect that a session was pruned and its external id was assigned to another. */
const cachedMs = 30_000;

/** Finds the channels of sessions and authorizes requests for them. Sessions are cached. */
export class SessionChannels {
  readonly #sql: Sql;
  readonly #channels: Pick<Channels, 'open'>;
  readonly #cache = new LRUCache<string, KnownSession>({ ...maxEntries(maxCached), ttl: cachedMs });

  constructor(sql: Sql, channels: Pick<Channels, 'open'>) {
    this.#sql = sql;
    this.#channels = channels;
  }

  /** For reading: 404 only for an id that does not exist. */
  async toRead(request: Asking, address: string, io: Io, side?: string): Promise<AuthorizedChannel> {
    const env = request.environment.id;
    const session = await this.find(env, address);
    if (!session && isSessionId(address)) throw notFound('Session not found', false, 'session_not_found');
    await this.#authorize(request, session ?? { id: address, externalId: null }, io, side);
    return { session, key: sessionChannel(env, session?.externalId ?? address, io, side) };
  }

  /** For writing: the session must exist. Side channels are created on their first write. */
  async toWrite(
    request: Asking,
    address: string,
    io: Io,
    side?: string,
  ): Promise<AuthorizedChannel & { readonly session: KnownSession }> {
    const env = request.environment.id;
    const session = await this.find(env, address);
    if (!session) throw notFound('Session not found', false, 'session_not_found');
    await this.#authorize(request, session, io, side);
    return { session, key: sessionChannel(env, session.externalId ?? session.id, io, side) };
  }

  async #authorize(
    request: Asking,
    session: Pick<KnownSession, 'id' | 'externalId'>,
    io: Io,
    side: string | undefined,
  ): Promise<void> {
    const whole = identitiesOf(session);
    const parts: Identity[] = [];
    for (const id of namedParts(request.principal, whole, io, side)) {
      // An external id may look like a part of another session. A scope with it applies to the session with that external id.
      if (!(await this.find(request.environment.id, id))) parts.push({ type: 'sessions', id });
    }
    request.authorize([...whole, ...parts]);
  }

  /** Creates a side channel, unless the session is closed. */
  async openSide(session: KnownSession, key: ChannelKey): Promise<void> {
    await this.#sql.begin(async (tx) => {
      // Locked, so that a close either comes before or finds the channel.
      const [open] = await tx`
        select 1 from sessions where env = ${key.env} and id = ${session.id} and closed_at is null for share`;
      if (open) await this.#channels.open([{ key, session: session.id, expiresAt: session.expiresAt }], tx);
    });
  }

  /** By its id or its external id. */
  async find(env: number, address: string): Promise<KnownSession | undefined> {
    const name = `${env} ${address}`;
    const cached = this.#cache.get(name);
    if (cached) return cached;
    const row = await findSession(this.#sql, env, address);
    if (!row) return undefined;
    const found: KnownSession = { id: row.id, externalId: row.external_id, expiresAt: row.expires_at };
    this.#cache.set(name, found);
    return found;
  }
}
