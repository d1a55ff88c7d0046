import type { Transaction } from '../db/connect.ts';
import { compileFilter } from './filter.ts';

/** An event that is being delivered. */
export interface DeliveredEvent {
  readonly env: number;
  readonly id: string;
  readonly name: string;
  /** The event in the API's format, including its payload. */
  readonly event: Readonly<Record<string, unknown>>;
}

/**
 * Completes the tokens that wait for events, in the transaction that delivers the events. Must be called before their runs are created: waits
 * are locked before lanes. Returns the environments whose runs may continue.
 */
export async function completeWaits(
  tx: Transaction,
  delivered: readonly DeliveredEvent[],
  now: Date,
): Promise<ReadonlySet<number>> {
  const woken = new Set<number>();
  for (const { env, id, name, event } of delivered) {
    const waits = await tx<{ id: string; filter: string | null; is_over: boolean }[]>`
      select w.waitpoint_id as id, w.filter, coalesce(t.status <> 'WAITING', true) as is_over
        from event_waits w left join waitpoints t on t.env = w.env and t.id = w.waitpoint_id
       where w.env = ${env} and w.name = ${name} order by w.waitpoint_id for update of w`;
    const matched = waits.filter(
      ({ filter, is_over }) =>
        !is_over && compileFilter(filter === null ? undefined : JSON.parse(filter))(event['payload']),
    );
    const over = [...waits.filter((wait) => wait.is_over), ...matched].map((wait) => wait.id);
    if (over.length === 0) continue;
    if (matched.length > 0) {
      const text = JSON.stringify({ ...event, id });
      await tx`
        select complete_token(${now}, ${env}, i.id, ${text}, 'application/json', ${JSON.stringify({ type: 'event', id })})
          from unnest(${matched.map((wait) => wait.id)}::text[]) as i (id)`;
      woken.add(env);
    }
    await tx`delete from event_waits where env = ${env} and name = ${name} and waitpoint_id = any(${over}::text[])`;
  }
  return woken;
}
