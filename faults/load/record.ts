import { appendFileSync, closeSync, openSync } from 'node:fs';
import type { Operation } from '../history/types.ts';
import { now } from '../time.ts';

type Times = 'invokedAt' | 'endedAt' | 'error';
/** The part of an operation that is known before its response. */
type Request = { [K in Operation['call']]: Omit<Extract<Operation, { call: K }>, Times> }[Operation['call']];
/** The part that its response adds. */
type Response = Readonly<{ run?: string; seq?: number }>;

export type Record = (request: Request, act: () => Promise<Response>) => Promise<boolean>;

export function recorderTo(file: string): { record: Record; close: () => void } {
  const output = openSync(file, 'a');
  return {
    /** Performs a call and records it. Resolves with whether it was acknowledged. */
    async record(request, act) {
      const invokedAt = now();
      const result: Response & { readonly error?: string } = await act().catch((error: Error) => ({
        error: `${error.name}: ${error.message}`.slice(0, 300),
      }));
      const operation = { ...request, ...result, invokedAt, endedAt: now() };
      appendFileSync(output, `${JSON.stringify(operation)}\n`);
      return result.error === undefined;
    },
    close: () => closeSync(output),
  };
}
