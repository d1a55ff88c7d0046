import type { Diagnosis } from '@millrace/contract';
import type { Check } from '@millrace/server';

/** What checks of a running server, and of the proxy before it, are given. */
export interface ServerFacts {
  /** Without a slash at the end. */
  readonly url: string;
  /** A personal access token. */
  readonly token: string | undefined;
  /** A secret key of an environment. */
  readonly key: string | undefined;
  /** How long an event stream may bring nothing. The server sends something every five seconds. */
  readonly maxSilenceMs: number;
  /** What the server finds wrong. The same for each call; rejects if it does not tell. */
  readonly diagnose: () => Promise<Told>;
  /** The same for checks that need it: where it is missing they are skipped. */
  readonly told: () => Promise<Told>;
}

export interface Told {
  readonly diagnosis: Diagnosis;
  /** When it was asked and when it answered, by the clock of this machine. */
  readonly askedAt: number;
  readonly answeredAt: number;
}

export type ServerCheck = Check<ServerFacts>;
