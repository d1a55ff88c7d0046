import type { Diagnosis } from '@millrace/contract';
import type { Check } from '@millrace/server';

/** Input for checks of a running server, and of the proxy in front of it. */
export interface ServerInput {
  /** Without a trailing slash. */
  readonly url: string;
  /** A personal access token. */
  readonly token: string | undefined;
  /** A secret key of an environment. */
  readonly key: string | undefined;
  /** Maximum silence of an event stream. The server sends something every five seconds. */
  readonly maxSilenceMs: number;
  /** The server's own findings. Returns the same result for each call; rejects if the server does not return them. */
  readonly diagnose: () => Promise<DiagnosisResponse>;
  /** The same for checks that require it: without it they are skipped. */
  readonly requireDiagnosis: () => Promise<DiagnosisResponse>;
}

export interface DiagnosisResponse {
  readonly diagnosis: Diagnosis;
  /** When the request was sent and the response received, by the clock of this machine. */
  readonly requestedAt: number;
  readonly answeredAt: number;
}

export type ServerCheck = Check<ServerInput>;
