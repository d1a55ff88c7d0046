import type { TaskManifest } from '@millrace/contract/runner';
import type { OpenWork } from '@millrace/server';

/** The requests of a test process to the host: one JSON object per line over one connection, which also shows that the process is alive. */
export interface HostCalls {
  /** Starts a server on a new database, for these tasks. It lives for as long as the connection. */
  readonly open: {
    readonly input: { readonly tasks: readonly TaskManifest[] };
    readonly reply: { readonly url: string };
  };
  /** A new, empty project. */
  readonly project: { readonly input: { readonly before?: string | undefined }; readonly reply: TestProject };
  /** The remaining work of the environment, and the server's time. */
  readonly work: { readonly input: { readonly environment: string }; readonly reply: OpenWork & Time };
  /** Moves the clock forward to this time and wakes these background jobs. An earlier time has no effect. */
  readonly moveTo: {
    readonly input: { readonly at: number; readonly jobs: readonly string[] };
    readonly reply: Time;
  };
}

export interface Time {
  /** Milliseconds since 1970. */
  readonly now: number;
}

/** A project with its dev environment. */
export interface TestProject extends Time {
  readonly projectRef: string;
  /** Public id of the environment. */
  readonly environment: string;
  readonly secretKey: string;
  /** The version with the tasks. */
  readonly version: string;
}

export type HostCall = keyof HostCalls;

export interface HostRequest {
  readonly id: number;
  /** Proves that the caller may read the host's file. */
  readonly token: string;
  readonly call: HostCall;
  readonly input: unknown;
}

export type HostReply =
  | { readonly id: number; readonly reply: unknown }
  | { readonly id: number; readonly error: string };

/** The address of the host for test processes, stored in its folder. */
export interface HostAddress {
  readonly port: number;
  readonly token: string;
  readonly pid: number;
}

export const addressFile = 'host.json';
export const logFile = 'host.log';
