import type { Operations } from '@millrace/contract';
import { Streaming, type HandlersOf, type Request } from '../request.ts';
import { onWire } from '../protocols/sse/form.ts';
import { eventRun, pingEvent, runEvent } from './event.ts';
import type { Feed, News } from './feed.ts';
import { presentPage } from './present.ts';
import { reachBatch, findRun, reachTags, withoutColumns } from './authorize.ts';
import type { Realtime } from './realtime.ts';
import { runFeed } from './run-feed.ts';
import type { Subject } from './subject.ts';

type Named = Pick<Operations, 'followRun' | 'followRuns' | 'followBatch'>;
type Asking = Request<Named['followRun']> | Request<Named['followRuns']> | Request<Named['followBatch']>;

/** What a stream is made from: what there is, if the client has nothing yet, then what changes. */
interface Source extends Feed {
  /** Pages of the present, or none where the feed itself begins with it. */
  present(): AsyncIterable<News>;
  close(): void;
}

export function eventHandlers(realtime: Realtime): HandlersOf<Named> {
  const { sql, followed, sets, streams, clock, log, addressOf } = realtime;

  function stream(request: Asking, subject: string, source: Source): Streaming {
    const env = request.environment.id;
    const without = withoutColumns(request, request.query.skipColumns);
    const address = addressOf(request);
    const last = request.header('last-event-id') ?? '';
    return new Streaming((exchange) => {
      const over = new AbortController();
      let drained: () => void = () => {};
      const out = streams.open(exchange, env, subject, {
        ping: pingEvent,
        onDrain: () => drained(),
        onOver() {
          over.abort();
          drained();
          source.close();
        },
      });
      const send = async ({ runs, place }: News): Promise<void> => {
        for (const [at, run] of runs.entries()) {
          // Whoever is cut off between two of them goes on before the first.
          const id = at === runs.length - 1 ? place : undefined;
          const frame = onWire(runEvent(id, eventRun(run, without, address)), out.wire);
          if (out.send(frame) || over.signal.aborted) continue;
          await new Promise<void>((resolve) => (drained = resolve));
        }
      };
      const serve = async (): Promise<void> => {
        let place = last;
        for (;;) {
          let news: News | 'lost' = 'lost';
          if (place !== '') news = await source.next(place, over.signal);
          if (news === 'lost') {
            for await (const page of source.present()) {
              if (over.signal.aborted) return;
              await send(page);
              place = page.place;
            }
            continue;
          }
          if (over.signal.aborted) return;
          await send(news);
          if (news.over) return out.end('event: end\ndata: {}\n\n');
          place = news.place;
        }
      };
      serve().catch((error: unknown) => {
        log.warn('realtime.failed', { env, error: String(error) });
        out.break();
      });
    });
  }

  function setSource(subject: Subject): Source {
    const held = sets.hold(subject);
    return {
      next: (place, signal) => held.set.next(place, signal),
      async *present() {
        await held.set.ready;
        const place = held.set.place;
        for (let after: string | undefined = ''; after !== undefined;) {
          const page = await presentPage(sql, subject, after);
          // Until the last page is there, who is cut off begins again.
          after = page.next;
          yield { runs: page.runs, place: after === undefined ? place : 'begin', over: false };
        }
      },
      close: held.release,
    };
  }

  return {
    async followRun(request) {
      const { runId } = request.params;
      const env = request.environment.id;
      await findRun(sql, request, runId);
      streams.admit(request, env, runId);
      const feed = runFeed(followed, env, runId, { endsWithRun: true });
      return stream(request, runId, {
        next: (place, signal) => feed.next(place, signal),
        async *present() {
          yield { runs: [], place: '0', over: false };
        },
        close() {},
      });
    },

    async followRuns(request) {
      const { tags, tasks = [], createdAt } = request.query;
      const step = Math.min(300_000, Math.max(1_000, Math.floor(createdAt / 100)));
      const from = Math.floor((clock.now() - createdAt) / step) * step;
      const subject = reachTags(request, tags, tasks, from);
      streams.admit(request, subject.env, subject.key);
      return stream(request, subject.key, setSource(subject));
    },

    async followBatch(request) {
      const subject = await reachBatch(sql, request, request.params.batchId);
      streams.admit(request, subject.env, subject.key);
      return stream(request, subject.key, setSource(subject));
    },
  };
}
