import type { History } from '../history/types.ts';
import { groupBy, type Violation } from './violation.ts';

/** Every acknowledged message to a session was consumed by its task, and messages were first consumed in the order of their calls. */
export function checkMessages({ operations, effects }: History): Violation[] {
  const violations: Violation[] = [];
  const consumed = groupBy(
    effects.filter(({ point }) => point === 'message'),
    ({ key }) => key,
  );
  const sent = operations.flatMap((operation) => (operation.call === 'send' ? [operation] : []));
  for (const [channel, sends] of groupBy(sent, (operation) => operation.channel)) {
    const values = [...new Set((consumed.get(channel) ?? []).map(({ value }) => value))];
    const broken = (detail: string): number =>
      violations.push({ promise: 'channel', detail: `messages of ${channel}: ${detail}` });
    for (const { value, error } of sends)
      if (error === undefined && !values.includes(value))
        broken(`"${value}" was acknowledged and not consumed`);
    const expected = sends.map(({ value }) => value).filter((value) => values.includes(value));
    if (expected.some((value, index) => values[index] !== value)) broken('consumed in another order');
  }
  return violations;
}
