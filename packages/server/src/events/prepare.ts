import { eventInstant, parseDuration, type EventFields, type NewEvent } from '@millrace/contract';
import { jsonOfField } from '../json/levels.ts';
import { badRequest } from '../problem.ts';
import { isSameJson } from './json.ts';
import type { NewEventRow } from './row.ts';

/** The row of a sent event: its times parsed, its `timestamp` and `deliverAt` filled in. */
export function prepareEvent(env: number, { id, event }: NewEvent, now: number): NewEventRow {
  const due = dueAt(event, now);
  const timestamp = event.timestamp === undefined ? now : (eventInstant(event.timestamp) as number);
  const stored: Record<string, unknown> = { ...event, timestamp: new Date(timestamp).toISOString() };
  if (due !== undefined) stored['deliverAt'] = new Date(due).toISOString();
  const deliverAt = due !== undefined && due > now ? new Date(due) : null;
  return {
    env,
    id,
    name: event.name ?? null,
    event: stored,
    text: jsonOfField(stored, 'event'),
    deliverAt,
    replayOf: null,
  };
}

function dueAt({ deliverAt, deliverAfter }: EventFields, now: number): number | undefined {
  if (deliverAt !== undefined) return eventInstant(deliverAt);
  if (deliverAfter === undefined) return undefined;
  if (typeof deliverAfter === 'number') return now + Math.round(deliverAfter * 1_000);
  const ms = parseDuration(deliverAfter);
  const due = typeof ms === 'number' ? eventInstant(now + ms) : undefined;
  if (due === undefined)
    throw badRequest('event.deliverAfter: the delivery time is after the year 9999; use a shorter delay');
  return due;
}

/** Whether an event sent under a known id differs from the stored one. Values that the server filled in are not compared. */
export function isDifferent(
  sent: NewEvent['event'],
  prepared: NewEventRow,
  stored: Readonly<Record<string, unknown>>,
): boolean {
  const names = new Set([...Object.keys(prepared.event), ...Object.keys(stored)]);
  if (sent.timestamp === undefined) names.delete('timestamp');
  if (sent.deliverAt === undefined) names.delete('deliverAt');
  return [...names].some((name) => !isSameJson(prepared.event[name], stored[name]));
}
