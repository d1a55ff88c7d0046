import type { Operations, OperationsOf } from '@millrace/contract';
import { errorCodeHeader, helpHeader } from '@millrace/contract/plain';
import { isFromSdkBefore41, type HandlersOf, type Request } from '../request.ts';
import { runFeed } from './run-feed.ts';
import { presentPage } from './present.ts';
import type { RealtimeContext } from './context.ts';
import { authorizeBatch, authorizeRunById, authorizeTags, skippedColumns } from './authorize.ts';
import { Shape } from './shape.ts';
import {
  newHandle,
  pagingOffset,
  cursorHeaders,
  readHandle,
  readPosition,
  type Sent,
} from './shape-position.ts';
import type { RunSnapshot } from './run-snapshot.ts';
import type { Subject } from './subject.ts';

type SubscriptionRequest =
  | Request<Operations['shapeRuns']>
  | Request<Operations['shapeRun']>
  | Request<Operations['shapeBatch']>;

/** A handle older than this is rejected. */
const maxAgeMs = 8 * 86_400_000;

export function shapeHandlers(realtime: RealtimeContext): HandlersOf<OperationsOf<'realtime'>> {
  const { sql, followed, sets, polls, clock } = realtime;

  /** Clients expect a response within 20 seconds, and then send the next request. */
  async function answerSet(request: SubscriptionRequest, subject: Subject, answer: ShapeAnswer) {
    const { query } = request;
    const position = readPosition(query);
    if (position.kind === 'unknown' || answer.isUnknown) return answer.refetch();
    const subscription = sets.hold(subject);
    try {
      const { set } = subscription;
      await set.ready;
      if (position.kind === 'present') {
        const before = set.cursor;
        const { runs, next } = await presentPage(sql, subject, position.after);
        const at = position.at ?? Number(before.split('.', 1)[0]);
        if (next !== undefined) return answer.more(runs, pagingOffset(at, next));
        // A client that needed several pages receives the changes since the first.
        return answer.upToDate(runs, 'insert', position.at === undefined ? before : `${at}.0.0`);
      }
      const update =
        query.live === 'true'
          ? await polls.hold(request, subject.env, (signal) => set.next(position.cursor, signal))
          : await set.next(position.cursor, AbortSignal.abort());
      if (update === 'lost') return answer.refetch();
      return answer.upToDate(update.runs, 'insert', update.cursor);
    } finally {
      subscription.release();
    }
  }

  return {
    async shapeRun(request) {
      const { query, params } = request;
      const env = request.environment.id;
      await authorizeRunById(sql, request, params.runId);
      const answer = new ShapeAnswer(request, JSON.stringify([env, params.runId]), 0);
      const digest = /^0_([0-9a-f]{1,32})$/.exec(query.offset)?.[1];
      if ((query.offset !== '-1' && digest === undefined) || answer.isUnknown) return answer.refetch();
      const feed = runFeed(followed, env, params.runId);
      const isLive = query.live === 'true' || digest === undefined;
      const update = isLive
        ? await polls.hold(request, env, (signal) => feed.next(digest ?? '', signal))
        : await feed.next(digest, AbortSignal.abort());
      if (update === 'lost') return answer.refetch();
      return answer.upToDate(update.runs, digest === undefined ? 'insert' : 'update', `0.${update.cursor}.0`);
    },

    shapeRuns(request) {
      const { tags, tasks = [], createdAt } = request.query;
      const now = clock.now();
      // Rounded, so that subscribers of the same runs at about the same time share a set.
      const step = Math.min(300_000, Math.max(1_000, Math.floor(createdAt / 100)));
      const key = JSON.stringify([request.environment.id, tags.toSorted(), tasks.toSorted(), createdAt]);
      const answer = new ShapeAnswer(
        request,
        key,
        Math.floor((now - createdAt) / step) * step,
        now - maxAgeMs,
      );
      return answerSet(request, authorizeTags(request, tags, tasks, answer.from), answer);
    },

    async shapeBatch(request) {
      const subject = await authorizeBatch(sql, request, request.params.batchId);
      return answerSet(request, subject, new ShapeAnswer(request, subject.key, 0));
    },
  };
}

type Message = { readonly headers: Record<string, unknown> };

/** A response of the shape protocol: messages, and headers that the client sends back. */
class ShapeAnswer {
  readonly #request: SubscriptionRequest;
  readonly #shape: Shape;
  readonly #name: string;
  readonly #handle: string;
  /** Includes only runs created at or after this time. */
  readonly from: number;
  /** The client's handle is for another subscription, or too old. */
  readonly isUnknown: boolean;

  constructor(request: SubscriptionRequest, key: string, from: number, earliest = 0) {
    const { query } = request;
    const sent: Sent = query;
    const without = skippedColumns(request, query.skipColumns);
    this.#request = request;
    this.#shape = new Shape(query.columns, without, isFromSdkBefore41(request));
    this.#name = `${key} ${this.#shape.schema}`;
    const sentHandle = sent.handle ?? sent.shape_id;
    const since =
      sentHandle === undefined || sentHandle === '' ? undefined : readHandle(sentHandle, this.#name);
    const isFirst = query.offset === '-1';
    const known = !isFirst && since !== undefined && since >= earliest ? since : undefined;
    this.isUnknown = !isFirst && known === undefined;
    this.from = known ?? from;
    this.#handle =
      known === undefined || sentHandle === undefined ? newHandle(this.#name, this.from) : sentHandle;
  }

  upToDate(runs: readonly RunSnapshot[], operation: 'insert' | 'update', cursor: string): Message[] {
    const headers = cursorHeaders(cursor);
    this.#setHeaders(headers.offset, headers.cursor);
    this.#request.setHeader('electric-up-to-date', 'true');
    return [...this.#messages(runs, operation), { headers: { control: 'up-to-date' } }];
  }

  more(runs: readonly RunSnapshot[], offset: string): Message[] {
    this.#setHeaders(offset, '0');
    return this.#messages(runs, 'insert');
  }

  refetch(): Message[] {
    this.#request.setStatus(409);
    this.#setHeaders('-1', '0', newHandle(this.#name, this.from));
    return [{ headers: { control: 'must-refetch' } }];
  }

  #messages(runs: readonly RunSnapshot[], operation: 'insert' | 'update'): Message[] {
    return runs.map((run) => this.#shape.message(run, operation));
  }

  #setHeaders(offset: string, cursor: string, handle = this.#handle): void {
    const headers = {
      'electric-handle': handle,
      'electric-offset': offset,
      'electric-cursor': cursor,
      'electric-schema': this.#shape.schema,
      // For older clients.
      'electric-shape-id': handle,
      'electric-chunk-last-offset': offset,
      'access-control-expose-headers': exposed,
    };
    for (const [name, value] of Object.entries(headers)) this.#request.setHeader(name, value);
  }
}

const exposed =
  'electric-handle, electric-offset, electric-cursor, electric-schema, electric-up-to-date, electric-shape-id, ' +
  `electric-chunk-last-offset, retry-after, x-should-retry, ${helpHeader}, ${errorCodeHeader}`;
