import { Streaming } from '../request.ts';
import type { EventStreams } from '../protocols/sse/event-streams.ts';
import type { Channels } from './channels.ts';
import type { Following } from './hub.ts';
import { endOf, frameOf, pingOf, type Framing } from './framing.ts';
import type { ChannelKey } from './key.ts';

export interface Subscribing {
  readonly key: ChannelKey;
  /** What the caller calls the channel's owner, for the count of streams on it. */
  readonly subject: string;
  /** Number of the first record that is wanted. */
  readonly from: number;
  readonly framing: Framing;
  /** A stream without news for so long ends, properly; sooner where nothing more will come. */
  readonly idleMs: number;
  readonly headers?: Readonly<Record<string, string>>;
}

/** The answer to a subscriber: the channel's records as server-sent events. */
export function subscribe(channels: Channels, streams: EventStreams, subscribing: Subscribing): Streaming {
  const { key, subject, from, framing, idleMs } = subscribing;
  return new Streaming((exchange) => {
    let newsAt = performance.now();
    let idle: NodeJS.Timeout | undefined;
    let isOver = false;
    let following: Following | undefined;
    const waitForIdle = (ms: number): void => {
      idle = setTimeout(() => {
        // Who is behind has news to come, whatever holds them up.
        const left = following?.live ? idleMs - (performance.now() - newsAt) : idleMs;
        // A millisecond early is not idle for longer.
        if (left > 1) waitForIdle(left);
        else stream.end(endOf(framing));
      }, ms);
      idle.unref();
    };
    const stream = streams.open(exchange, key.env, subject, {
      headers: { 'x-stream-version': framing === 'v2' ? 'v2' : 'v1', ...subscribing.headers },
      ping: pingOf(framing),
      onDrain: () => following?.resume(),
      onOver() {
        isOver = true;
        clearTimeout(idle);
        following?.close();
      },
    });
    const form = `${framing} ${stream.wire}`;
    following = channels.follow(key, from, {
      deliver(page) {
        newsAt = performance.now();
        return stream.send(page.frame(form, (records) => frameOf(records, framing, stream.wire)));
      },
      ended: () => stream.end(endOf(framing)),
      lost: () => stream.break(),
    });
    if (isOver) following.close();
    else waitForIdle(idleMs);
  });
}
