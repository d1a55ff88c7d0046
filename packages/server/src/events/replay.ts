import type { SentEvent } from '@millrace/contract';
import type { Environment } from '../auth/principal.ts';
import { newId } from '../db/ids.ts';
import { unprocessable } from '../problem.ts';
import type { Engine } from '../runs/engine/engine.ts';
import { findEvent } from './retrieve.ts';
import type { Send } from './send.ts';

/** Sends a copy of an event immediately, as a new event, for the current subscriptions. Its times and payload are unchanged. */
export async function replayEvent(
  { sql }: Engine,
  send: Send,
  environment: Environment,
  { original, id = newId('event') }: { readonly original: string; readonly id?: string | undefined },
): Promise<SentEvent> {
  const { name, event, id: replayOf, erased_at } = await findEvent(sql, environment.id, original);
  if (erased_at !== null) {
    throw unprocessable(
      `The data of event ${original} was erased with its runs, so it cannot be replayed. Send a new event.`,
      'run_erased',
    );
  }
  const { deliverAt: _at, deliverAfter: _after, ...copy } = JSON.parse(event) as Record<string, unknown>;
  const row = {
    env: environment.id,
    id,
    name,
    event: copy,
    text: JSON.stringify(copy),
    deliverAt: null,
    replayOf,
  };
  return send({ environment, row, sent: copy });
}
