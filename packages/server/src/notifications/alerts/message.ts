import { durationText } from '@millrace/contract';
import type { Queryable } from '../../db/connect.ts';
import { notify } from '../notify.ts';
import type { AlertData } from '../message.ts';
import type { AlertRow } from './alert.ts';

/** Maximum items that a message names; the others are counted. */
export const maxItems = 10;

export interface AlertMessage {
  readonly type: 'alert.firing' | 'alert.resolved';
  readonly summary: string;
  readonly count: number;
  /** Only the first few. */
  readonly items: AlertData['items'];
  readonly since: Date | undefined;
}

/** Stores a message of an alert for its endpoints. */
export async function sendMessage(
  tx: Queryable,
  alert: AlertRow,
  message: AlertMessage,
  at: Date,
): Promise<void> {
  const { id, env, kind, name, threshold, window_s, endpoints } = alert;
  const { type, summary, count, items, since } = message;
  const data: AlertData & Readonly<Record<string, unknown>> = {
    id,
    kind,
    ...(name !== null && { name }),
    summary,
    count,
    items,
    threshold,
    window: durationText(window_s),
    ...(since && { since: since.toISOString() }),
  };
  await notify(tx, { env, at, type, data, endpoints: endpoints ?? undefined });
}

/** Whether the next message may be sent. A time in the future means that the clock has been set back since. */
export const isQuietOver = ({ last_sent_at: last, quiet_s }: AlertRow, now: Date): boolean =>
  last === null || last > now || now.getTime() - last.getTime() >= quiet_s * 1_000;

/** `1 queue`, `2 queues`. */
export const counted = (count: number, singular: string): string =>
  `${count} ${singular}${count === 1 ? '' : 's'}`;

/** Milliseconds as `12m10s`. */
export const spanText = (ms: number): string => durationText(Math.max(0, Math.round(ms / 1_000)));
