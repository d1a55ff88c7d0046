import type { Environment } from '../auth/principal.ts';
import type { Channels } from '../log/channels.ts';
import { sessionChannel, type ChannelKey, type Io } from '../log/key.ts';
import type { Sql } from '../db/connect.ts';
import { notFound } from '../problem.ts';
import type { Identity, Request } from '../request.ts';
import { findSession, identitiesOf, isSessionId } from './find.ts';
import { namedParts } from './part.ts';

/** What of a session never changes. */
export interface Known {
  readonly id: string;
  readonly externalId: string | null;
  readonly expiresAt: Date | null;
}

export interface Reached {
  /** Undefined where an external id has no session yet: its channel is empty, and may be followed. */
  readonly session: Known | undefined;
  readonly key: ChannelKey;
}

type Asking = Pick<Request<never>, 'environment' | 'authorize' | 'principal'> & {
  readonly environment: Environment;
};

const maxKnown = 20_000;
/** A session that is pruned, and its external id given to another, is noticed within this time. */
const knownMs = 30_000;

/** Finds the channels of sessions for requests that may touch them; sessions that were found are remembered. */
export class SessionChannels {
  readonly #sql: Sql;
  readonly #channels: Pick<Channels, 'open'>;
  readonly #known = new Map<string, Known & { readonly until: number }>();

  constructor(sql: Sql, channels: Pick<Channels, 'open'>) {
    this.#sql = sql;
    this.#channels = channels;
  }

  /** For reading: 404 only for an id that does not exist. */
  async toRead(request: Asking, address: string, io: Io, side?: string): Promise<Reached> {
    const env = request.environment.id;
    const session = await this.find(env, address);
    if (!session && isSessionId(address)) throw notFound('Session not found');
    await this.#authorize(request, session ?? { id: address, externalId: null }, io, side);
    return { session, key: sessionChannel(env, session?.externalId ?? address, io, side) };
  }

  /** For writing: the session must exist. Its side channels are made when they are first written. */
  async toWrite(
    request: Asking,
    address: string,
    io: Io,
    side?: string,
  ): Promise<Reached & { readonly session: Known }> {
    const env = request.environment.id;
    const session = await this.find(env, address);
    if (!session) throw notFound('Session not found');
    await this.#authorize(request, session, io, side);
    return { session, key: sessionChannel(env, session.externalId ?? session.id, io, side) };
  }

  async #authorize(
    request: Asking,
    session: Pick<Known, 'id' | 'externalId'>,
    io: Io,
    side: string | undefined,
  ): Promise<void> {
    const whole = identitiesOf(session);
    const parts: Identity[] = [];
    for (const id of namedParts(request.principal, whole, io, side)) {
      // An external id may read like a part of another session: a scope with it is for the session that has it.
      if (!(await this.find(request.environment.id, id))) parts.push({ type: 'sessions', id });
    }
    request.authorize([...whole, ...parts]);
  }

  /** Makes a side channel, unless the session is closed. */
  async openSide(session: Known, key: ChannelKey): Promise<void> {
    await this.#sql.begin(async (tx) => {
      // Held, so that a close comes before or finds the channel.
      const [open] = await tx`
        select 1 from sessions where env = ${key.env} and id = ${session.id} and closed_at is null for share`;
      if (open) await this.#channels.open([{ key, session: session.id, expiresAt: session.expiresAt }], tx);
    });
  }

  /** By its id or its external id. */
  async find(env: number, address: string): Promise<Known | undefined> {
    const name = `${env} ${address}`;
    const known = this.#known.get(name);
    if (known && known.until > performance.now()) return known;
    const row = await findSession(this.#sql, env, address);
    if (!row) return undefined;
    const found: Known = { id: row.id, externalId: row.external_id, expiresAt: row.expires_at };
    if (this.#known.size >= maxKnown) this.#known.clear();
    this.#known.set(name, { ...found, until: performance.now() + knownMs });
    return found;
  }
}
