import type { Codec } from '../sealing/codec.ts';
import { openShownError } from '../sealing/errors.ts';
import { openDeep, openMetadata } from '../sealing/values.ts';

/** The parts of a run that may be sealed. */
interface MaybeSealed {
  readonly id: string;
  readonly taskIdentifier: string;
  readonly payload?: unknown;
  readonly output?: unknown;
  readonly metadata?: unknown;
  readonly error?: object | undefined;
}

/**
 * The decrypted run; without a codec it is unchanged, and sealed parts are envelopes. Throws a SealedError for data that this codec cannot
 * open.
 */
export async function openRun<R extends object>(codec: Codec | undefined, run: R): Promise<R> {
  if (!codec) return run;
  // A subscription may leave out any of these.
  const { id, taskIdentifier, payload, output, metadata, error } = run as Partial<MaybeSealed>;
  return {
    ...run,
    ...(payload !== undefined && {
      payload: await openDeep(codec, payload, taskIdentifier && `payload ${taskIdentifier}`),
    }),
    ...(output !== undefined && { output: await openDeep(codec, output, id && `output ${id}`) }),
    ...(metadata !== undefined && { metadata: await openMetadata(codec, metadata) }),
    ...(error && { error: await openShownError(codec, error, id && `error ${id}`) }),
  };
}
