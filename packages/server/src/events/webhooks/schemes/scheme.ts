import type { ErrorCode } from '@millrace/contract/plain';
import type { IncomingHttpHeaders } from 'node:http';
import { timingSafeEqual } from 'node:crypto';

/** A request to a webhook, as it was received. */
export interface SignedRequest {
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
  /** The value of the body; undefined if it is not JSON. */
  readonly json: () => unknown;
}

/** Why a request is rejected. */
export type Rejection = Extract<
  ErrorCode,
  'webhook_signature_missing' | 'webhook_signature_invalid' | 'webhook_timestamp_invalid'
>;

/** A request whose signature is valid. */
export interface Verified {
  /** The sender's id of the request; undefined if it has none. */
  readonly senderId: string | undefined;
  /** When the request was signed, in milliseconds since 1970; undefined if the scheme does not sign a time. */
  readonly signedAt?: number;
  /** A reply that the sender expects to a request that is not an event. */
  readonly reply?: object;
}

export type Verdict = Verified | Rejection;

/** A request of a sender, to be signed. */
export interface Unsigned {
  readonly id: string;
  /** Milliseconds since 1970. */
  readonly at: number;
  readonly body: Buffer;
}

/** The value of a header. Repeated headers are joined by Node.js. */
export const headerOf = (headers: IncomingHttpHeaders, name: string): string | undefined => {
  const value = headers[name.toLowerCase()];
  return Array.isArray(value) ? value.join(', ') : value;
};

/** Whether any of the signatures is one of the expected digests. The time that it takes depends only on their number. */
export function matchesAny(signatures: readonly Buffer[], expected: readonly Buffer[]): boolean {
  let matches = false;
  for (const digest of expected) {
    for (const signature of signatures) {
      if (signature.length === digest.length && timingSafeEqual(signature, digest)) matches = true;
    }
  }
  return matches;
}

/** Seconds since 1970 as milliseconds; undefined for anything else. */
export const readSeconds = (text: string): number | undefined =>
  /^\d{1,12}$/.test(text) ? Number(text) * 1_000 : undefined;

export const secondsOf = (at: number): string => String(Math.floor(at / 1_000));

/** A member of a JSON object in a body, if it is a string. */
export function textMember(body: unknown, name: string): string | undefined {
  const value = typeof body === 'object' && body !== null && (body as Record<string, unknown>)[name];
  return typeof value === 'string' && value !== '' ? value : undefined;
}
