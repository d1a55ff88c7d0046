import type { Operations, OperationsOf } from '@millrace/contract';
import { allInTurns, mapInTurns } from '../json/turns.ts';
import type { HandlersOf, Request } from '../request.ts';
import type { TakeRuns } from '../runs/create/quota.ts';
import { cancelEvent } from './cancel.ts';
import { listEvents } from './list.ts';
import { replayEvent } from './replay.ts';
import { retrieveEvent } from './retrieve.ts';
import { countRuns } from './plan.ts';
import { createSend, sendingOf, type Send, type SendDependencies, type Sending } from './send.ts';

export interface EventHandlerDependencies extends SendDependencies {
  readonly takeRuns: TakeRuns;
}

export function eventHandlers(dependencies: EventHandlerDependencies): HandlersOf<OperationsOf<'events'>> {
  const { engine, takeRuns } = dependencies;
  const { sql, clock } = engine;
  const send = createSend(dependencies);

  /** The number of runs: an event creates one for each subscribed task. */
  const count = async (
    request: Request<Operations['sendEvent'] | Operations['sendEvents'] | Operations['replayEvent']>,
    sendings: readonly Sending[],
  ): Promise<void> => {
    if (!takeRuns.isLimited(request)) return;
    const counts = await mapInTurns(sendings, ({ environment, row }) =>
      countRuns(engine, { environment, ...row }),
    );
    takeRuns(
      request,
      counts.reduce((sum, runs) => sum + runs, 0),
    );
  };

  return {
    async sendEvent(request) {
      const sending = sendingOf(request.environment, request.body, clock.now());
      await count(request, [sending]);
      return send(sending);
    },

    async sendEvents(request) {
      const { environment, body } = request;
      const now = clock.now();
      // All events are read before any is stored.
      const sendings = await mapInTurns(body.events, (event) => sendingOf(environment, event, now));
      request.charge(sendings.length - 1);
      await count(request, sendings);
      return { events: await allInTurns(sendings, send) };
    },

    listEvents: ({ environment, query }) => listEvents(sql, environment.id, query),

    retrieveEvent: ({ environment, params }) => retrieveEvent(sql, environment.id, params.eventId),

    replayEvent(request) {
      const { environment, params, body } = request;
      const counted: Send = async (sending) => {
        await count(request, [sending]);
        return send(sending);
      };
      return replayEvent(engine, counted, environment, { original: params.eventId, id: body?.id });
    },

    cancelEvent: ({ environment, params }) => cancelEvent(engine, environment.id, params.eventId),
  };
}
