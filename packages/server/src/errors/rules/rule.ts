import type { ErrorRule } from '@millrace/contract';
import { matches, piecesOf } from './pattern.ts';

/** The input that rules are matched against. */
export interface Matched {
  readonly task: string;
  readonly type: string;
  /** The thrown message, truncated, and the one that its group displays. One match is enough. */
  readonly messages: readonly string[];
}

export type RuleFields = Pick<ErrorRule, 'task' | 'type' | 'message' | 'groupKey'>;

export type Match = (failure: Matched) => string | undefined;

/** The group key of the first matching rule; all patterns of a rule must match. */
export function matcherOf(rules: readonly RuleFields[]): Match {
  const ready = rules.map(({ task, type, message, groupKey }) => ({
    task: task === null ? undefined : piecesOf(task),
    type: type === null ? undefined : piecesOf(type),
    message: message === null ? undefined : piecesOf(message),
    groupKey,
  }));
  return ({ task, type, messages }) =>
    ready.find(
      (rule) =>
        (rule.task === undefined || matches(rule.task, task)) &&
        (rule.type === undefined || matches(rule.type, type)) &&
        (rule.message === undefined ||
          messages.some((message) => matches(rule.message as readonly string[], message))),
    )?.groupKey;
}
