import type { VariableCache } from '../../envvars/variable-cache.ts';
import { redactEnded } from '../../envvars/redact/redacting.ts';
import { storeLargeOutput } from '../../payloads/store-large-output.ts';
import type { ConnectedRunners } from '../../runners/runners.ts';
import type { Tracing } from '../../telemetry/tracing/tracing.ts';
import { notifyRunners } from '../cancel/cancel.ts';
import type { Complete } from './attempt.ts';
import { countEnded } from './count-ended.ts';
import { createWriteOutcome, type WriteDependencies } from './write.ts';

export interface CompleteDependencies extends WriteDependencies {
  readonly runners: ConnectedRunners;
  readonly redactor: VariableCache['redactor'];
  /** Undefined when tracing is off. */
  readonly tracing: Pick<Tracing, 'attempt'> | undefined;
}

/**
 * Everything that happens when an attempt ends, in this order, whether its runner reported the end or the attempt was reclaimed from a lost
 * runner. The reply to the reporting runner is in settlements.ts.
 */
export function createComplete(dependencies: CompleteDependencies): Complete {
  const { engine, runners, redactor, tracing } = dependencies;
  const { changes } = engine;
  const writeOutcome = createWriteOutcome(dependencies);

  return async (reported) => {
    const redacted = await redactEnded(redactor, reported);
    const ended = await storeLargeOutput(engine, redacted);
    const completion = await writeOutcome(ended);
    if (changes.isWatched(ended.env)) changes.changed(ended.env, [ended.run]);
    if (completion.kind !== undefined) countEnded(engine, ended, completion.kind);
    if (completion.kind !== undefined) tracing?.attempt(ended, completion.kind);
    if (completion.stopping) notifyRunners(engine, runners, completion.stopping);
    return completion;
  };
}
