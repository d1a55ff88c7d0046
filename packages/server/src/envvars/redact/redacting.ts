import type { LogLine, Outcome } from '@millrace/contract/runner';
import type { VariableCache } from '../variable-cache.ts';
import { redactLines, redactOutcome } from './messages.ts';
import type { Redactor } from './redactor.ts';

/**
 * Verbs that keep what runs say, with the secrets of their environment cut out first: here, at the one place where it comes in, so
 * that nothing behind it can hold one. An environment without secrets pays for a search for the markers of our keys.
 */
export interface Redacting {
  outcomes<E extends { readonly env: number; readonly outcome: Outcome }, R>(
    settle: (ended: E) => Promise<R>,
  ): (ended: E) => Promise<R>;
  lines(
    keep: (env: number, lines: readonly LogLine[]) => Promise<void>,
  ): (env: number, lines: readonly LogLine[]) => Promise<void>;
  metadata<T extends { readonly env: number; readonly metadata: string | null }, R>(
    trigger: (run: T) => Promise<R>,
  ): (run: T) => Promise<R>;
}

export function redacting({ redactor }: Pick<VariableCache, 'redactor'>): Redacting {
  const withRedactor = <R>(env: number, act: (redact: Redactor) => Promise<R>): Promise<R> => {
    const known = redactor(env);
    return known instanceof Promise ? known.then(act) : act(known);
  };
  return {
    outcomes: (settle) => (ended) =>
      withRedactor(ended.env, (redact) =>
        settle({ ...ended, outcome: redactOutcome(redact, ended.outcome) }),
      ),
    lines: (keep) => (env, lines) => withRedactor(env, (redact) => keep(env, redactLines(redact, lines))),
    metadata: (trigger) => (run) =>
      run.metadata === null
        ? trigger(run)
        : withRedactor(run.env, (redact) => trigger({ ...run, metadata: redact.json(run.metadata ?? '') })),
  };
}
