import { setTimeout as pause } from 'node:timers/promises';
import { sessions } from '@millrace/sdk';
import type { Record } from './record.ts';

/** Two writers and a reader of `.out`, and a sender to `.in`. Each writer and sender awaits its last call before the next one. */
export function sessionLoad(channel: string, record: Record, signal: AbortSignal): Promise<void>[] {
  const session = sessions.open(channel);

  const repeat = async (everyMs: number, act: (n: number) => Promise<unknown>): Promise<void> => {
    for (let n = 0; !signal.aborted; n++) {
      await act(n);
      await pause(everyMs, undefined, { signal }).catch(() => {});
    }
  };

  const write = (writer: string): Promise<void> =>
    repeat(300, (n) => {
      const value = `${writer} ${n}`;
      return record({ call: 'append', channel, value }, async () => ({
        seq: await session.out.append({ value }),
      }));
    });

  const send = (): Promise<void> =>
    repeat(1_500, (n) => {
      const value = `message ${n}`;
      return record({ call: 'send', channel, value }, async () => {
        await session.in.send(value);
        return {};
      });
    });

  const read = async (reader: string): Promise<void> => {
    let last: number | undefined;
    let value = '';
    while (!signal.aborted) {
      const seen = (seq: number): void => {
        last = seq;
        void record({ call: 'read', channel, reader, seq, value }, async () => ({}));
        value = '';
      };
      const options = { lastEventId: last, timeoutInSeconds: 600, signal, onEventId: seen };
      try {
        for await (const chunk of session.out.read<{ value?: string; reply?: string }>(options))
          value = chunk.value ?? `reply ${chunk.reply}`;
      } catch (error) {
        if (signal.aborted) return;
        await record({ call: 'read', channel, reader, seq: -1, value: '' }, () => Promise.reject(error));
      }
    }
  };

  return [write('first'), write('second'), send(), read('reader')];
}
