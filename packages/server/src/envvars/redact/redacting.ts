/**
 * Removes the secrets of an environment from the data of its runs before it is stored. Each function is synchronous if the secrets are
 * cached. For an environment without secrets, the only cost is a search for the markers of Millrace keys.
 */
import type { Outcome } from '@millrace/contract/runner';
import { inTurns, partLength } from '../../json/parts.ts';
import type { VariableCache } from '../variable-cache.ts';
import { redactOutcome, redactOutcomeParts } from './messages.ts';
import type { Redactor } from './redactor.ts';

type RedactorOf = VariableCache['redactor'];

export const redactEnded = <E extends { readonly env: number; readonly outcome: Outcome }>(
  redactorOf: RedactorOf,
  ended: E,
): E | Promise<E> =>
  withRedactor(redactorOf, ended.env, (redactor) =>
    isLong(ended.outcome)
      ? inTurns(redactOutcomeParts(redactor, ended.outcome)).then((outcome) => ({ ...ended, outcome }))
      : { ...ended, outcome: redactOutcome(redactor, ended.outcome) },
  );

const isLong = (outcome: Outcome): boolean =>
  outcome.kind === 'completed' && outcome.output !== null && outcome.output.length > partLength;

function withRedactor<R>(
  redactorOf: RedactorOf,
  env: number,
  act: (redactor: Redactor) => R | Promise<R>,
): R | Promise<R> {
  const known = redactorOf(env);
  return known instanceof Promise ? known.then(act) : act(known);
}
