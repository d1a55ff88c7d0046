import type { Outcome } from '@millrace/contract/runner';
import type { Codec } from '../sealing/codec.ts';
import { sealError } from '../sealing/errors.ts';
import { sealText } from '../sealing/values.ts';
import { failed, outputLimit } from './outcome.ts';
import { internalError } from './serialize-error.ts';

/** The outcome of an attempt as it is sent: its output or its error sealed. Never rejects: what cannot be sealed is not sent. */
export async function sealOutcome(codec: Codec, run: string, outcome: Outcome): Promise<Outcome> {
  if (outcome.kind === 'failed' || outcome.kind === 'retry')
    return { ...outcome, error: await sealError(codec, outcome.error, `error ${run}`) };
  if (outcome.kind !== 'completed' || outcome.output === null) return outcome;
  const clear = { text: outcome.output, type: outcome.outputType };
  try {
    const { text, type } = await sealText(codec, clear, `output ${run}`);
    const bytes = Buffer.byteLength(text);
    if (bytes <= outputLimit) return { kind: 'completed', output: text, outputType: type };
    const message = `The sealed output has ${bytes} bytes; at most ${outputLimit} are kept. Store it elsewhere and return where.`;
    return failed(internalError('OutputTooLargeError', message));
  } catch {
    // Neither the output nor what the codec says of it. No retry: the work is done.
    const message = 'The output could not be sealed, because the codec failed, and was not sent.';
    return failed(internalError('SealingError', message));
  }
}
