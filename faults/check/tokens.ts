import type { History } from '../history/types.ts';
import type { Violation } from './violation.ts';

/** A run that waited for a token received the value of its completion. Each token is completed by one call, so no other value is possible. */
export function checkTokens({ operations, stored }: History): Violation[] {
  const outputs = new Map(stored.runs.map(({ key, output, status }) => [key, { output, status }]));
  const completions = new Map(
    operations.flatMap((operation) =>
      operation.call === 'complete' ? [[operation.token, operation] as const] : [],
    ),
  );
  const violations: Violation[] = [];
  for (const operation of operations) {
    if (operation.call !== 'trigger' || operation.token === undefined) continue;
    const run = outputs.get(operation.key);
    const completion = completions.get(operation.token);
    if (!run || run.status !== 'COMPLETED' || !completion) continue;
    if (run.output !== completion.value)
      violations.push({
        promise: 'token',
        detail: `token ${operation.token}: completed with ${completion.value}, its run received ${JSON.stringify(run.output)}`,
      });
  }
  return violations;
}
