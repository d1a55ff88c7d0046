import type { Wait } from '@millrace/contract/runner';

/** The result of a wait, as `waitUntil` of the published SDK resolves with it. */
export interface Waited {
  readonly ok: boolean;
  readonly output: string;
  readonly outputType: string;
}

/** A wait for the message after the last one that the code has consumed. */
export interface MessageWait {
  readonly end: (begin: (wait: Wait) => Promise<void>) => Promise<Waited>;
}

/** A wait that was announced to this process and has not begun. */
export type Waitpoint = { readonly time: Wait } | { readonly message: MessageWait };
