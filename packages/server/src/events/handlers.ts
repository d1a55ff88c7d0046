import type { Operations } from '@millrace/contract';
import type { HandlersOf } from '../request.ts';
import { cancelEvent } from './cancel.ts';
import { listEvents } from './list.ts';
import { replayEvent } from './replay.ts';
import { retrieveEvent } from './retrieve.ts';
import { createSend, sendingOf, type SendDependencies } from './send.ts';

type Named = Pick<
  Operations,
  'sendEvent' | 'sendEvents' | 'listEvents' | 'retrieveEvent' | 'replayEvent' | 'cancelEvent'
>;

export function eventHandlers(dependencies: SendDependencies): HandlersOf<Named> {
  const { engine } = dependencies;
  const { sql, clock } = engine;
  const send = createSend(dependencies);

  return {
    sendEvent: ({ environment, body }) => send(sendingOf(environment, body, clock.now())),

    async sendEvents({ environment, body }) {
      const now = clock.now();
      // All of them are read before any is stored.
      const sendings = body.events.map((event) => sendingOf(environment, event, now));
      return { events: await Promise.all(sendings.map(send)) };
    },

    listEvents: ({ environment, query }) => listEvents(sql, environment.id, query),

    retrieveEvent: ({ environment, params }) => retrieveEvent(sql, environment.id, params.eventId),

    replayEvent: ({ environment, params, body }) =>
      replayEvent(engine, send, environment, { original: params.eventId, id: body?.id }),

    cancelEvent: ({ environment, params }) => cancelEvent(engine, environment.id, params.eventId),
  };
}
