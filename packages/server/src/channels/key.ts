import { hash } from 'node:crypto';

/** Identifies a channel. The id is a digest of environment and name, so it needs no query. */
export interface ChannelKey {
  readonly env: number;
  readonly name: string;
  /** Its primary key, a uuid. */
  readonly id: string;
}

export type Io = 'in' | 'out';

/**
 * A channel of a session. `address` is the session's external id if it has one, otherwise its id. Neither requires the session's row: a
 * subscriber may arrive before the session exists.
 */
export const sessionChannel = (env: number, address: string, io: Io, side = ''): ChannelKey =>
  keyOf(env, `s/${io}/${side}/${address}`);

/** A stream of a run. */
export const runStream = (env: number, run: string, stream: string): ChannelKey =>
  keyOf(env, `r/${run}/${stream}`);

/** An input stream of a run. The SQL function `awaited_channel` uses the same name. */
export const inputStream = (env: number, run: string, stream: string): ChannelKey =>
  keyOf(env, `i/${run}/${stream}`);

const keyOf = (env: number, name: string): ChannelKey => ({ env, name, id: uuidOf(`${env}/${name}`) });

/** The first 16 bytes of a SHA-256, in the form of a uuid. */
export function uuidOf(text: string): string {
  const hex = hash('sha256', text, 'hex');
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20, 32)}`;
}
