import type { Channels } from '../channels.ts';
import type { Following } from '../hub.ts';
import type { ChannelKey } from '../key.ts';
import { Streaming } from '../../request.ts';
import type { EventStreams } from './event-streams.ts';
import { endOf, frameOf, pingOf, type Framing } from './record-frames.ts';

export interface Subscription {
  readonly key: ChannelKey;
  /** Names the subject of the subscription, for the limit of streams on it. */
  readonly subject: string;
  /** The number of the first record to send. */
  readonly from: number;
  readonly framing: Framing;
  /** A stream without new records for this long is ended cleanly; earlier if the channel has ended. */
  readonly idleMs: number;
  readonly headers?: Readonly<Record<string, string>>;
}

/** Sends the channel's records to a subscriber as server-sent events. */
export function subscribe(channels: Channels, streams: EventStreams, subscription: Subscription): Streaming {
  const { key, subject, from, framing, idleMs } = subscription;
  return new Streaming((exchange) => {
    let deliveredAt = performance.now();
    let idle: NodeJS.Timeout | undefined;
    let hasEnded = false;
    let following: Following | undefined;
    const waitForIdle = (ms: number): void => {
      idle = setTimeout(() => {
        // A reader that is behind is not idle: it has more records to receive.
        const left = following?.live ? idleMs - (performance.now() - deliveredAt) : idleMs;
        // The timer may fire a millisecond early.
        if (left > 1) waitForIdle(left);
        else stream.end(endOf(framing));
      }, ms);
      idle.unref();
    };
    const stream = streams.open(exchange, key.env, subject, {
      headers: { 'x-stream-version': framing === 'v2' ? 'v2' : 'v1', ...subscription.headers },
      ping: pingOf(framing),
      onDrain: () => following?.resume(),
      onEnded() {
        hasEnded = true;
        clearTimeout(idle);
        following?.close();
      },
    });
    const form = `${framing} ${stream.wire}`;
    following = channels.follow(key, from, {
      deliver(page) {
        deliveredAt = performance.now();
        return stream.send(page.frame(form, (records) => frameOf(records, framing, stream.wire)));
      },
      ended: () => stream.end(endOf(framing)),
      lost: () => stream.break(),
    });
    if (hasEnded) following.close();
    else waitForIdle(idleMs);
  });
}
