import type { Operations, OperationsOf } from '@millrace/contract';
import { Streaming, type HandlersOf, type Request } from '../request.ts';
import { onWire } from '../channels/sse/wire.ts';
import { eventRun, pingEvent, runEvent } from './event.ts';
import type { Feed, Update } from './feed.ts';
import { presentPage } from './present.ts';
import { authorizeBatch, authorizeRunById, authorizeTags, skippedColumns } from './authorize.ts';
import type { RealtimeContext } from './context.ts';
import { runFeed } from './run-feed.ts';
import type { Subject } from './subject.ts';

type SubscriptionRequest =
  | Request<Operations['followRun']>
  | Request<Operations['followRuns']>
  | Request<Operations['followBatch']>;

/** The source of a stream: first the current runs, if the client has none yet, then their changes. */
interface Source extends Feed {
  /** Pages of the current runs; none if the feed itself begins with them. */
  present(): AsyncIterable<Update>;
  close(): void;
}

export function eventHandlers(realtime: RealtimeContext): HandlersOf<OperationsOf<'realtimeFollow'>> {
  const { sql, followed, sets, streams, clock, log, addressOf } = realtime;

  function stream(request: SubscriptionRequest, subject: string, source: Source): Streaming {
    const env = request.environment.id;
    const without = skippedColumns(request, request.query.skipColumns);
    const address = addressOf(request);
    const last = request.header('last-event-id') ?? '';
    return new Streaming((exchange) => {
      const ended = new AbortController();
      let drained: () => void = () => {};
      const out = streams.open(exchange, env, subject, {
        ping: pingEvent,
        onDrain: () => drained(),
        onEnded() {
          ended.abort();
          drained();
          source.close();
        },
      });
      const send = async ({ runs, cursor }: Update): Promise<void> => {
        for (const [index, run] of runs.entries()) {
          // Only the last event has the cursor, so a client that is disconnected in between receives all of them again.
          const id = index === runs.length - 1 ? cursor : undefined;
          const frame = onWire(runEvent(id, eventRun(run, without, address)), out.wire);
          if (out.send(frame) || ended.signal.aborted) continue;
          await new Promise<void>((resolve) => (drained = resolve));
        }
      };
      const serve = async (): Promise<void> => {
        let cursor = last;
        for (;;) {
          let update: Update | 'lost' = 'lost';
          if (cursor !== '') update = await source.next(cursor, ended.signal);
          if (update === 'lost') {
            for await (const page of source.present()) {
              if (ended.signal.aborted) return;
              await send(page);
              cursor = page.cursor;
            }
            continue;
          }
          if (ended.signal.aborted) return;
          await send(update);
          if (update.ended) return out.end('event: end\ndata: {}\n\n');
          cursor = update.cursor;
        }
      };
      serve().catch((error: unknown) => {
        log.warn('realtime.failed', { env, error: String(error) });
        out.break();
      });
    });
  }

  function setSource(subject: Subject): Source {
    const subscription = sets.hold(subject);
    return {
      next: (cursor, signal) => subscription.set.next(cursor, signal),
      async *present() {
        await subscription.set.ready;
        const cursor = subscription.set.cursor;
        for (let after: string | undefined = ''; after !== undefined;) {
          const page = await presentPage(sql, subject, after);
          // A client that is disconnected before the last page starts over.
          after = page.next;
          yield { runs: page.runs, cursor: after === undefined ? cursor : 'begin', ended: false };
        }
      },
      close: subscription.release,
    };
  }

  return {
    async followRun(request) {
      const { runId } = request.params;
      const env = request.environment.id;
      await authorizeRunById(sql, request, runId);
      streams.admit(request, env, runId);
      const feed = runFeed(followed, env, runId, { endsWithRun: true });
      return stream(request, runId, {
        next: (cursor, signal) => feed.next(cursor, signal),
        async *present() {
          yield { runs: [], cursor: '0', ended: false };
        },
        close() {},
      });
    },

    async followRuns(request) {
      const { tags, tasks = [], createdAt } = request.query;
      const step = Math.min(300_000, Math.max(1_000, Math.floor(createdAt / 100)));
      const from = Math.floor((clock.now() - createdAt) / step) * step;
      const subject = authorizeTags(request, tags, tasks, from);
      streams.admit(request, subject.env, subject.key);
      return stream(request, subject.key, setSource(subject));
    },

    async followBatch(request) {
      const subject = await authorizeBatch(sql, request, request.params.batchId);
      streams.admit(request, subject.env, subject.key);
      return stream(request, subject.key, setSource(subject));
    },
  };
}
