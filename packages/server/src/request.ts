import type {
  Action,
  Body,
  EventStreamReply,
  OperationDeclaration,
  Params,
  Query,
  Reply,
  Role,
} from '@millrace/contract';
import type { Socket } from 'node:net';
import type { Environment, Principal } from './auth/principal.ts';

/** A request as a handler sees it: authenticated, authorized, validated, and independent of the HTTP framework. */
export interface Request<D extends OperationDeclaration> {
  readonly params: Params<D>;
  readonly query: Query<D>;
  readonly body: Body<D>;
  readonly principal: Principal;
  /** The environment of the key or token. Throws for a personal access token, which has none. */
  readonly environment: Environment;
  /** The user's role in the organization of the path; undefined for keys and tokens, and if the operation requires no role. */
  readonly role: Role | undefined;
  /** Where the request came from, for the audit log. */
  readonly origin: Origin;
  /** The URL under which the client reaches this server, without a trailing slash. Used for links in responses. */
  readonly baseUrl: string;
  /** Aborted when the caller disconnects before the response. */
  readonly gone: AbortSignal;
  /**
   * Identifies a repeated request of the same caller on the same operation: a UUID that ends in 000. Undefined if the client sent no
   * idempotency key.
   */
  readonly requestKey: string | undefined;
  /** Releases the request's share of the concurrency limit. For requests that wait for something other than this server. */
  readonly releaseSlot: () => void;
  header(name: string): string | undefined;
  /**
   * Counts additional requests against the caller's rate limit, for a request that counts as several. Throws a 429 Problem if the limit is
   * exhausted.
   */
  charge(requests: number): void;
  /** Sets a header of the reply. */
  setHeader(name: string, value: string): void;
  /** Overrides the operation's success status. */
  setStatus(status: number): void;
  /**
   * 403 unless the caller's scopes allow the operation's action, or the action `instead`, on one of the identities of one object
   * (`{ type: 'runs', id: 'run_1' }`, `{ type: 'tags', id: 'org:42' }`). For objects that must be looked up first.
   */
  authorize(identities: readonly Identity[], instead?: Action): void;
}

/** The result of a handler that streams. After `open` is called, it owns the connection. */
export class Streaming implements EventStreamReply {
  readonly streams = true;
  readonly open: (exchange: Exchange) => void;

  constructor(open: (exchange: Exchange) => void) {
    this.open = open;
  }
}

/** A request with a streaming response. */
export interface Exchange {
  readonly socket: Socket;
  /** Whether the client does not support chunks: the end of the connection is then the end of the response. */
  readonly isHttp10: boolean;
  /** Response headers of the operation. */
  readonly headers: Readonly<Record<string, string>>;
  /** Calls `ended` once when the caller's credential ends. Returns a function that stops watching. */
  whileAllowed(ended: () => void): () => void;
}

export interface Origin {
  readonly requestId: string;
  /** Address of the peer, or of the client behind a trusted proxy. */
  readonly address: string;
  readonly userAgent: string | undefined;
}

export interface Identity {
  readonly type: string;
  readonly id?: string;
}

export type Handler<D extends OperationDeclaration> = (request: Request<D>) => Promise<Reply<D>>;

/** Handlers of some operations. Together, the modules must cover every operation. */
export type HandlersOf<O extends Record<string, OperationDeclaration>> = {
  readonly [K in keyof O]: Handler<O[K]>;
};

/** Whether the request comes from a published SDK before 4.1, which supports neither batches in chunks nor streams outside of metadata. */
export const isFromSdkBefore41 = (request: Pick<Request<never>, 'header'>): boolean =>
  /^(?:3|4\.0)\./.test(request.header('trigger-version') ?? '');
