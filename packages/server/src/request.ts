import type { Body, OperationDeclaration, Params, Query, Reply, Role } from '@millrace/contract';
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
  header(name: string): string | undefined;
  /** Sets a header of the reply. */
  setHeader(name: string, value: string): void;
  /**
   * 403 unless the caller's scopes allow the operation's action on one of these identities of one object
   * (`{ type: 'runs', id: 'run_1' }`, `{ type: 'tags', id: 'org:42' }`). For objects known only after a look-up.
   */
  authorize(identities: readonly Identity[]): void;
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
