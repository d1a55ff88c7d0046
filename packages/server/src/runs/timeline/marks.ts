import type { SpanAttributes } from '@millrace/contract/runner';
import { spanLimits } from '@millrace/contract/runner';
import type { RunSpan } from '../spans/read.ts';
import type { SpansOfRun } from '../spans/read-many.ts';
import { clockOffset } from './fit.ts';
import { groupBy } from '../values/group-by.ts';
import { attemptAt, type TimelineAttempt, type Placed } from './timeline-attempt.ts';
import type { LineRow } from './read.ts';
import { iso } from '../values/iso.ts';

/** Where and when a run executed, without its attempts. */
interface Bounds {
  readonly id: string;
  readonly from: number;
  /** The server's current time. */
  readonly now: number;
}

/**
 * Lines and spans, whose times are from their runner's clock. Within their attempt they are moved by the same amount, onto the server's clock
 * and between the attempt's start and end. Lines are in id order.
 */
export function fitMarks(
  run: Bounds,
  lines: readonly LineRow[],
  spans: SpansOfRun | undefined,
  timelineAttempts: readonly TimelineAttempt[],
): Placed[] {
  const linesOf = groupBy(lines, (line) => attemptAt(timelineAttempts, line.at.getTime(), line.attempt));
  const spansOf = new Map<TimelineAttempt | undefined, RunSpan[]>();
  for (const chunk of spans?.chunks ?? []) {
    const attempt = attemptAt(timelineAttempts, chunk.arrivedAt.getTime(), chunk.attempt);
    spansOf.set(attempt, [...(spansOf.get(attempt) ?? []), ...chunk.spans]);
  }
  return [...new Set([...linesOf.keys(), ...spansOf.keys()])].flatMap((attempt) => {
    const ownLines = linesOf.get(attempt) ?? [];
    const ownSpans = spansOf.get(attempt) ?? [];
    const from = attempt?.from ?? run.from;
    const until = attempt?.until ?? run.now;
    let first = Number.POSITIVE_INFINITY;
    let last = Number.NEGATIVE_INFINITY;
    for (const line of ownLines) {
      first = Math.min(first, line.at.getTime());
      last = Math.max(last, line.at.getTime());
    }
    for (const { at, took } of ownSpans) {
      first = Math.min(first, at / 1_000);
      last = Math.max(last, (at + took) / 1_000);
    }
    const offset = clockOffset(first, last, from, until);
    const fit = (ms: number): number => Math.max(from, Math.min(until, ms + offset));
    const below = { parentId: attempt?.id ?? run.id, runId: run.id };
    return [...lineEntries(ownLines, below, fit), ...spanEntries(ownSpans, below, fit)];
  });
}

interface Below {
  readonly parentId: string;
  readonly runId: string;
}

function lineEntries(lines: readonly LineRow[], below: Below, fit: (ms: number) => number): Placed[] {
  let at = Number.NEGATIVE_INFINITY;
  return lines.map(({ id, level, message, at: loggedAt }) => {
    at = Math.max(at, fit(loggedAt.getTime()));
    const moment = iso(at);
    return {
      at,
      entry: {
        kind: 'log',
        id: `${below.runId}/log/${id}`,
        ...below,
        startedAt: moment,
        endedAt: moment,
        level,
        message,
      },
    };
  });
}

/** A hostile task may send spans that form a cycle, or two with the same id. */
function spanEntries(spans: readonly RunSpan[], below: Below, fit: (ms: number) => number): Placed[] {
  const known = new Map<string, RunSpan>();
  for (const span of spans) if (!known.has(span.id)) known.set(span.id, span);
  const isRooted = rootedIn(known);
  return [...known.values()].map((span) => {
    const at = fit(span.at / 1_000);
    const end = Math.max(at, fit((span.at + span.took) / 1_000));
    const { parentId: parent } = span;
    const above = parent !== undefined && known.has(parent) && isRooted(span.id);
    const detail = detailOf(span.attributes);
    return {
      at,
      entry: {
        kind: 'span',
        id: `${below.parentId}/span/${span.id}`,
        parentId: above ? `${below.parentId}/span/${parent}` : below.parentId,
        runId: below.runId,
        startedAt: iso(at),
        endedAt: iso(end),
        spanId: span.id,
        name: span.name,
        spanKind: span.kind,
        status: span.status,
        durationMs: span.took / 1_000,
        ...(span.message !== undefined && { message: span.message }),
        ...(detail !== undefined && { detail }),
      },
    };
  });
}

/** Whether the ancestors of a span lead to a span directly below its attempt, within the maximum depth. */
function rootedIn(known: ReadonlyMap<string, RunSpan>): (id: string) => boolean {
  const levels = new Map<string, number>();
  return (id) => {
    const path: string[] = [];
    let at: string | undefined = id;
    while (at !== undefined && !levels.has(at)) {
      path.push(at);
      // A span seen again on this path is part of a cycle.
      levels.set(at, Number.POSITIVE_INFINITY);
      const parent: string | undefined = known.get(at)?.parentId;
      at = parent !== undefined && known.has(parent) ? parent : undefined;
    }
    let level = at === undefined ? 0 : (levels.get(at) ?? Number.POSITIVE_INFINITY);
    for (const span of path.toReversed()) levels.set(span, ++level);
    return (levels.get(id) ?? Number.POSITIVE_INFINITY) <= spanLimits.depth;
  };
}

const maxDetail = 300;
const detailAttributes = ['db.query.text', 'db.statement', 'url.full', 'http.url'] as const;

/** According to the semantic conventions of OpenTelemetry, both current and earlier ones. */
function detailOf(attributes: SpanAttributes): string | undefined {
  for (const name of detailAttributes) {
    const value = attributes[name];
    if (typeof value === 'string' && value !== '') return value.slice(0, maxDetail).toWellFormed();
  }
  return undefined;
}
