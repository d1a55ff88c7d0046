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

/** A request as a handler sees it: authenticated, authorised, validated. Nothing of the HTTP framework is in it. */
export interface Request<D extends OperationDeclaration> {
  readonly params: Params<D>;
  readonly query: Query<D>;
  readonly body: Body<D>;
  readonly principal: Principal;
  /** The environment of the key or token. Not there for a personal access token: reading it then is a fault. */
  readonly environment: Environment;
  /** What the user is in the organisation of the path; undefined for keys and tokens, and where no role is asked for. */
  readonly role: Role | undefined;
  /** Where it came from, for the audit log. */
  readonly origin: Origin;
  /** The address under which the client reaches this server, without a slash at its end: what its replies may point to. */
  readonly baseUrl: string;
  /** Raised when the caller is gone before it was answered. */
  readonly gone: AbortSignal;
  /**
   * What a repetition of this request is known by, by the same caller on the same operation: a uuid that ends in 000. Undefined for
   * one that cannot be told from another.
   */
  readonly requestKey: string | undefined;
  header(name: string): string | undefined;
  /**
   * Counts so many requests more than this one against the caller's rate limit, for what could have been sent one by one; a 429 Problem
   * where the limit is used up.
   */
  charge(requests: number): void;
  /** Sets a header of the reply. */
  setHeader(name: string, value: string): void;
  /** Another success than the operation's own. */
  setStatus(status: number): void;
  /**
   * 403 unless the caller's scopes allow the operation's action, or another one instead, on one of these identities of one object
   * (`{ type: 'runs', id: 'run_1' }`, `{ type: 'tags', id: 'org:42' }`). For objects known only after a look-up.
   */
  authorize(identities: readonly Identity[], instead?: Action): void;
}

/** What the handler of an operation that streams answers. `open` has the connection from then on, and nobody else writes to it. */
export class Streaming implements EventStreamReply {
  readonly streams = true;
  readonly open: (exchange: Exchange) => void;

  constructor(open: (exchange: Exchange) => void) {
    this.open = open;
  }
}

/** A request whose answer goes on. */
export interface Exchange {
  readonly socket: Socket;
  /** The client knows no chunks: the end of the connection is the end of the answer. */
  readonly isHttp10: boolean;
  /** What every answer of this operation has. */
  readonly headers: Readonly<Record<string, string>>;
  /** Calls `ended`, once, when the caller's credential is no longer good; until the answer is called. */
  whileAllowed(ended: () => void): () => void;
}

export interface Origin {
  readonly requestId: string;
  /** Of the peer: behind a proxy, the proxy's. */
  readonly address: string;
  readonly userAgent: string | undefined;
}

export interface Identity {
  readonly type: string;
  readonly id?: string;
}

export type Handler<D extends OperationDeclaration> = (request: Request<D>) => Promise<Reply<D>>;

/** Handlers of some operations; together the domains must cover every one. */
export type HandlersOf<O extends Record<string, OperationDeclaration>> = {
  readonly [K in keyof O]: Handler<O[K]>;
};

/** Whether it comes from a published SDK before 4.1, which knows neither batches of chunks nor streams apart from metadata. */
export const isFromSdkBefore41 = (request: Pick<Request<never>, 'header'>): boolean =>
  /^(?:3|4\.0)\./.test(request.header('trigger-version') ?? '');
