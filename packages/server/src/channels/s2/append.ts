import type { ErrorCode } from '@millrace/contract';
import { hash } from 'node:crypto';
import type { Authenticate } from '../../auth/authenticate.ts';
import type { MintPublicToken } from '../../auth/mint.ts';
import { isUser, type Environment, type Principal } from '../../auth/principal.ts';
import type { AppendOptions, Appended } from '../pending-append.ts';
import type { Channels } from '../channels.ts';
import { uuidOf, type ChannelKey } from '../key.ts';
import type { NewRecord } from '../record.ts';
import { AppendRefused } from '../refused.ts';
import { failureHeaders } from '../../failure-headers.ts';
import { asProblem, badRequest, forbidden } from '../../problem.ts';
import { NotReadable, textOf, type AppendAck, type AppendInput, type InputRecord } from './protobuf.ts';

/** The headers that describe where and how a writer of this protocol writes a channel's records. */
export type WriterHeaders = (
  request: { readonly principal: Principal; readonly baseUrl: string },
  key: ChannelKey,
) => Promise<Readonly<Record<string, string>>>;

export interface StreamAppends {
  readonly writerHeaders: WriterHeaders;
  /** Resolves with the channel that a request may append to. Rejects with 401 and 403 Problems. */
  admit(stream: string, authorization: string | undefined): Promise<Admitted>;
  append(to: Admitted, input: AppendInput): Promise<AppendAck>;
}

/** A channel that a writer may append to. */
export interface Admitted {
  readonly environment: Environment;
  readonly key: ChannelKey;
  readonly principal: Principal;
}

/** Appends to a channel, and performs the follow-up for its kind; for example, a message wakes its session. */
export type Write = (
  environment: Environment,
  key: ChannelKey,
  records: readonly NewRecord[],
  options: AppendOptions,
) => Promise<Appended>;

export const streamsPath = '/s2/v1';
/** The lifetime of the token for one stream, which may be written to for a long time. */
const tokenSeconds = 86_400;
const maxRecords = 1_000;
const flushIntervalMs = 50;

const scopeOf = (key: ChannelKey): string => `write:channels:${key.id}`;

/** Appends to channels for writers that use the protocol of an S2 stream store. */
export function streamAppends({
  channels,
  write,
  authenticate,
  mint,
}: {
  readonly channels: Pick<Channels, 'trim'>;
  readonly write: Write;
  readonly authenticate: Authenticate;
  readonly mint: MintPublicToken;
}): StreamAppends {
  return {
    async writerHeaders({ principal, baseUrl }, key) {
      if (isUser(principal)) throw forbidden();
      const token = await mint(principal, {
        scopes: [scopeOf(key)],
        expiresInSeconds: tokenSeconds,
        // Code that keeps running after its attempt has ended can no longer write.
        endsWithAttempt: true,
      });
      if (token === undefined) throw forbidden();
      return {
        'x-s2-access-token': token,
        'x-s2-basin': 'millrace',
        // Names may contain characters that headers cannot.
        'x-s2-stream-name': Buffer.from(key.name).toString('base64url'),
        'x-s2-endpoint': baseUrl + streamsPath,
        'x-s2-flush-interval-ms': String(flushIntervalMs),
        'x-s2-max-retries': '10',
      };
    },

    async admit(stream, authorization) {
      const principal = await authenticate({ authorization });
      if (principal.kind !== 'publicToken') throw forbidden();
      const name = Buffer.from(stream, 'base64url').toString();
      const { environment } = principal;
      const env = environment.id;
      const key = { env, name, id: uuidOf(`${env}/${name}`) };
      // Requires this exact scope, because a token with a wider one was not issued for this purpose.
      if (!principal.scopes.includes(scopeOf(key))) throw forbidden();
      return { environment, key, principal };
    },

    async append({ environment, key }, { records, matchSeqNum, fencingToken }) {
      if (records.length === 0 || records.length > maxRecords) {
        throw badRequest(`An append must have 1 to ${maxRecords} records.`);
      }
      const read = records.map(readRecord);
      const fence = read.findLast((record) => record.fence !== undefined)?.fence;
      const done = await write(
        environment,
        key,
        read.map(({ record }) => record),
        {
          matchSeqNum,
          fencingToken,
          ...(fence !== undefined && { newFencingToken: fence }),
          partId: partOf(records),
        },
      );
      const trim = Math.max(-1, ...read.map((record) => record.trim ?? -1));
      if (trim >= 0) await channels.trim(key, Math.min(trim, done.tail));
      const at = (seqNum: number) => ({ seqNum, timestamp: done.at });
      return { start: at(done.start), end: at(done.end), tail: at(done.tail) };
    },
  };
}

interface ReadRecord {
  readonly record: NewRecord;
  readonly trim?: number;
  readonly fence?: string;
}

/** A record whose only header has no name is a command. It gets a sequence number, and readers skip it. */
function readRecord({ body, headers }: InputRecord): ReadRecord {
  const [name, command] = headers[0] ?? [];
  if (name !== '') return { record: { body: textOf(body), ...(headers.length > 0 && { headers }) } };
  const record = { body: '', headers };
  if (headers.length === 1 && command === 'trim' && body.length === 8) {
    return { record, trim: Number(Buffer.from(body).readBigUInt64BE()) };
  }
  if (headers.length === 1 && command === 'fence' && body.length <= 36)
    return { record, fence: textOf(body) };
  throw badRequest(
    'A header without a name is a command: trim with 8 bytes, or fence with a token of up to 36 bytes.',
  );
}

const ownId = /"id":"[\w-]{7,}"\}$/;

/**
 * Writers of this protocol resend records that were not acknowledged in time. If each record ends with its own id, like those of the published
 * SDK, the part id is a digest of the records, so that a resend appends nothing.
 */
function partOf(records: readonly InputRecord[]): string | undefined {
  const bodies = records.map(({ body }) => Buffer.from(body).toString());
  return bodies.every((body) => ownId.test(body)) ? hash('sha256', bodies.join('\n')) : undefined;
}

/** A failure in the form of this protocol, with the headers of failed responses. */
export function refusalOf(error: unknown): {
  readonly status: number;
  readonly body: object;
  readonly headers: Readonly<Record<string, string>>;
} {
  const { code, status, body } = answerTo(error);
  const { message = '' } = body as { message?: string };
  return { status, body, headers: failureHeaders(code, message, status) };
}

function answerTo(error: unknown): {
  readonly code: ErrorCode;
  readonly status: number;
  readonly body: object;
} {
  if (error instanceof AppendRefused && error.reason === 'match') {
    return { code: error.code, status: 412, body: { seq_num_mismatch: error.tail } };
  }
  if (error instanceof AppendRefused && error.reason === 'fence') {
    return { code: error.code, status: 412, body: { fencing_token_mismatch: '' } };
  }
  const problem = asProblem(error);
  if (problem) {
    return {
      code: problem.code,
      status: problem.status,
      body: { message: problem.message, code: codes[problem.status] ?? 'refused' },
    };
  }
  // A URIError means that the stream's name is not valid percent-encoding.
  if (error instanceof NotReadable || error instanceof URIError)
    return { code: 'invalid_request', status: 400, body: { message: error.message, code: 'bad_request' } };
  return {
    code: 'internal_error',
    status: 500,
    body: { message: 'Internal Server Error', code: 'internal' },
  };
}

const codes: Readonly<Record<number, string>> = {
  400: 'bad_request',
  401: 'authentication',
  403: 'permission_denied',
  404: 'stream_not_found',
  413: 'too_large',
  503: 'unavailable',
};
