import { isFinal, type Operations, type OperationsOf } from '@millrace/contract';
import { jsonOfReply } from '../json/response.ts';
import { onWire } from '../channels/sse/wire.ts';
import { Streaming, type HandlersOf, type Request } from '../request.ts';
import { filterOf, wireLine } from '../runs/logs/handlers.ts';
import type { LineFilter } from '../runs/logs/filter.ts';
import { authorizeRunById } from './authorize.ts';
import type { RealtimeContext } from './context.ts';
import { pingEvent } from './event.ts';
import { LineFeed, type FollowedLines } from './line-feed.ts';
import type { LineNews } from './line-news.ts';

/** Milliseconds between reads, with and without an announcement. */
const betweenMs = 20;
const pollMs = 1_000;
/** The last lines of a run may arrive after its end. */
const lingerMs = 1_500;

export function lineHandlers(
  realtime: RealtimeContext,
  news: LineNews,
): HandlersOf<OperationsOf<'logsFollow'>> {
  const { sql, streams, log, followed } = realtime;

  function stream(
    request: Request<Operations['followLogs']> | Request<Operations['followRunLogs']>,
    subject: string,
    feed: LineFeed,
    run?: string,
  ): Streaming {
    const env = request.environment.id;
    return new Streaming((exchange) => {
      const ended = new AbortController();
      let wake: () => void = () => {};
      let drained: () => void = () => {};
      let isNews = true;
      const onNews = (): void => {
        isNews = true;
        wake();
      };
      let endsAt = Number.POSITIVE_INFINITY;
      const stops = [news.follow(env, onNews)];
      if (run !== undefined) {
        stops.push(
          followed.follow(env, run, (latest) => {
            if (latest !== null && !isFinal(latest.status)) return;
            endsAt = Math.min(endsAt, performance.now() + lingerMs);
            onNews();
          }),
        );
      }
      const out = streams.open(exchange, env, subject, {
        ping: pingEvent,
        onDrain: () => drained(),
        onEnded() {
          ended.abort();
          for (const stop of stops) stop();
          drained();
          wake();
        },
      });
      const send = async (text: string): Promise<void> => {
        // An empty chunk would end the stream.
        if (text === '' || out.send(onWire(text, out.wire)) || ended.signal.aborted) return;
        await new Promise<void>((resolve) => (drained = resolve));
      };
      const serve = async (): Promise<void> => {
        let readAgainAt = performance.now() + pollMs;
        while (!ended.signal.aborted) {
          isNews = false;
          const again = performance.now() >= readAgainAt;
          if (again) readAgainAt = performance.now() + pollMs;
          const isLast = performance.now() >= endsAt;
          const read = await feed.next(again);
          await send(eventsOf(read));
          if (read.more) continue;
          if (isLast) return out.end('event: end\ndata: {}\n\n');
          await pause(betweenMs);
          if (isNews) continue;
          await new Promise<void>((resolve) => {
            const timer = setTimeout(resolve, Math.min(pollMs, Math.max(0, endsAt - performance.now())));
            wake = () => {
              clearTimeout(timer);
              resolve();
            };
          });
        }
      };
      serve().catch((error: unknown) => {
        log.warn('realtime.failed', { env, error: String(error) });
        out.break();
      });
    });
  }

  /** The position of a returning client; otherwise `otherwise`. */
  const cursorOf = (request: Pick<Request<never>, 'header'>, otherwise: number): number => {
    const last = Number(request.header('last-event-id') || Number.NaN);
    return Number.isSafeInteger(last) && last >= 0 ? last : otherwise;
  };

  return {
    async followLogs(request) {
      const env = request.environment.id;
      streams.admit(request, env, 'logs');
      const [newest] = await sql<{ id: string }[]>`
        select id from run_logs where env = ${env} order by id desc limit 1`;
      const cursor = cursorOf(request, Number(newest?.id ?? 0));
      return stream(request, 'logs', new LineFeed(sql, env, undefined, filterOf(request.query), cursor));
    },

    async followRunLogs(request) {
      const { runId } = request.params;
      const env = request.environment.id;
      await authorizeRunById(sql, request, runId);
      streams.admit(request, env, runId);
      const filter: LineFilter = filterOf(request.query);
      return stream(request, runId, new LineFeed(sql, env, runId, filter, cursorOf(request, 0)), runId);
    },
  };
}

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

function eventsOf({ lines, hasGap }: FollowedLines): string {
  const gap = hasGap ? 'event: gap\ndata: {}\n\n' : '';
  const events = lines.map((line) => `id: ${line.id}\nevent: line\ndata: ${jsonOfReply(wireLine(line))}\n\n`);
  return gap + events.join('');
}
