import type { Outcome } from '@millrace/contract/runner';
import type { Codec } from '../sealing/codec.ts';
import { sealError } from '../sealing/errors.ts';
import { sealText } from '../sealing/values.ts';
import { failed, outputLimit } from './outcome.ts';
import { internalError } from './serialize-error.ts';

/**
 * The outcome of an attempt in the form in which it is sent, with its output or error sealed. Never rejects: data that cannot be sealed is not
 * sent.
 */
export async function sealOutcome(codec: Codec, run: string, outcome: Outcome): Promise<Outcome> {
  if (outcome.kind === 'failed' || outcome.kind === 'retry')
    return { ...outcome, error: await sealError(codec, outcome.error, `error ${run}`) };
  if (outcome.kind !== 'completed' || outcome.output === null) return outcome;
  const clear = { text: outcome.output, type: outcome.outputType };
  try {
    const { text, type } = await sealText(codec, clear, `output ${run}`);
    const bytes = Buffer.byteLength(text);
    if (bytes <= outputLimit) return { kind: 'completed', output: text, outputType: type };
    const message = `The sealed output has ${bytes} bytes; at most ${outputLimit} are stored. Store it elsewhere and return a reference.`;
    return failed(internalError('OutputTooLargeError', message));
  } catch {
    // Includes neither the output nor the codec's message. Not retried, because the work is done.
    const message = 'The output could not be sealed, because the codec failed, and was not sent.';
    return failed(internalError('SealingError', message));
  }
}
