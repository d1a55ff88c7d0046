import type { Operations } from '@millrace/contract';
import { isFromSdkBefore41, type HandlersOf, type Request } from '../request.ts';
import { runFeed } from './run-feed.ts';
import { presentPage } from './present.ts';
import type { Realtime } from './realtime.ts';
import { reachBatch, findRun, reachTags, withoutColumns } from './authorize.ts';
import { Shape } from './shape.ts';
import {
  newHandle,
  pagingOffset,
  placeHeaders,
  readHandle,
  readPosition,
  type Sent,
} from './shape-position.ts';
import type { ShownRun } from './shown-run.ts';
import type { Subject } from './subject.ts';

type Named = Pick<Operations, 'shapeRun' | 'shapeRuns' | 'shapeBatch'>;
type Asking = Request<Named['shapeRuns']> | Request<Named['shapeRun']> | Request<Named['shapeBatch']>;

/** No subscription goes further back, whatever its handle says. */
const maxAgeMs = 8 * 86_400_000;

export function shapeHandlers(realtime: Realtime): HandlersOf<Named> {
  const { sql, followed, sets, polls, clock } = realtime;

  /** Clients take 20 seconds without news for granted and ask again. */
  async function answerSet(request: Asking, subject: Subject, answer: ShapeAnswer) {
    const { query } = request;
    const position = readPosition(query);
    if (position.kind === 'unknown' || answer.isUnknown) return answer.refetch();
    const held = sets.hold(subject);
    try {
      const { set } = held;
      await set.ready;
      if (position.kind === 'present') {
        const before = set.place;
        const { runs, next } = await presentPage(sql, subject, position.after);
        const at = position.at ?? Number(before.split('.', 1)[0]);
        if (next !== undefined) return answer.more(runs, pagingOffset(at, next));
        // Pages take their time: whoever needed several is told what changed since the first.
        return answer.upToDate(runs, 'insert', position.at === undefined ? before : `${at}.0.0`);
      }
      const news =
        query.live === 'true'
          ? await polls.hold(request, subject.env, (signal) => set.next(position.place, signal))
          : await set.next(position.place, AbortSignal.abort());
      if (news === 'lost') return answer.refetch();
      return answer.upToDate(news.runs, 'insert', news.place);
    } finally {
      held.release();
    }
  }

  return {
    async shapeRun(request) {
      const { query, params } = request;
      const env = request.environment.id;
      await findRun(sql, request, params.runId);
      const answer = new ShapeAnswer(request, JSON.stringify([env, params.runId]), 0);
      const digest = /^0_([0-9a-f]{1,32})$/.exec(query.offset)?.[1];
      if ((query.offset !== '-1' && digest === undefined) || answer.isUnknown) return answer.refetch();
      const feed = runFeed(followed, env, params.runId);
      const isLive = query.live === 'true' || digest === undefined;
      const news = isLive
        ? await polls.hold(request, env, (signal) => feed.next(digest ?? '', signal))
        : await feed.next(digest, AbortSignal.abort());
      if (news === 'lost') return answer.refetch();
      return answer.upToDate(news.runs, digest === undefined ? 'insert' : 'update', `0.${news.place}.0`);
    },

    shapeRuns(request) {
      const { tags, tasks = [], createdAt } = request.query;
      const now = clock.now();
      // Rounded, so that who subscribes to the same runs at about the same time shares the work.
      const step = Math.min(300_000, Math.max(1_000, Math.floor(createdAt / 100)));
      const key = JSON.stringify([request.environment.id, tags.toSorted(), tasks.toSorted(), createdAt]);
      const answer = new ShapeAnswer(
        request,
        key,
        Math.floor((now - createdAt) / step) * step,
        now - maxAgeMs,
      );
      return answerSet(request, reachTags(request, tags, tasks, answer.from), answer);
    },

    async shapeBatch(request) {
      const subject = await reachBatch(sql, request, request.params.batchId);
      return answerSet(request, subject, new ShapeAnswer(request, subject.key, 0));
    },
  };
}

type Message = { readonly headers: Record<string, unknown> };

/** An answer of the shape protocol: messages, and headers that the client sends back. */
class ShapeAnswer {
  readonly #request: Asking;
  readonly #shape: Shape;
  readonly #name: string;
  readonly #handle: string;
  /** Since when the runs of the subscription were created. */
  readonly from: number;
  /** The client follows something else. */
  readonly isUnknown: boolean;

  constructor(request: Asking, key: string, from: number, earliest = 0) {
    const { query } = request;
    const sent: Sent = query;
    const without = withoutColumns(request, query.skipColumns);
    this.#request = request;
    this.#shape = new Shape(query.columns, without, isFromSdkBefore41(request));
    this.#name = `${key} ${this.#shape.schema}`;
    const given = sent.handle ?? sent.shape_id;
    const since = given === undefined || given === '' ? undefined : readHandle(given, this.#name);
    const isFirst = query.offset === '-1';
    const known = !isFirst && since !== undefined && since >= earliest ? since : undefined;
    this.isUnknown = !isFirst && known === undefined;
    this.from = known ?? from;
    this.#handle = known === undefined || given === undefined ? newHandle(this.#name, this.from) : given;
  }

  upToDate(runs: readonly ShownRun[], operation: 'insert' | 'update', place: string): Message[] {
    const { offset, cursor } = placeHeaders(place);
    this.#setHeaders(offset, cursor);
    this.#request.setHeader('electric-up-to-date', 'true');
    return [...this.#messages(runs, operation), { headers: { control: 'up-to-date' } }];
  }

  more(runs: readonly ShownRun[], offset: string): Message[] {
    this.#setHeaders(offset, '0');
    return this.#messages(runs, 'insert');
  }

  refetch(): Message[] {
    this.#request.setStatus(409);
    this.#setHeaders('-1', '0', newHandle(this.#name, this.from));
    return [{ headers: { control: 'must-refetch' } }];
  }

  #messages(runs: readonly ShownRun[], operation: 'insert' | 'update'): Message[] {
    return runs.map((run) => this.#shape.message(run, operation));
  }

  #setHeaders(offset: string, cursor: string, handle = this.#handle): void {
    const headers = {
      'electric-handle': handle,
      'electric-offset': offset,
      'electric-cursor': cursor,
      'electric-schema': this.#shape.schema,
      // What older clients read.
      'electric-shape-id': handle,
      'electric-chunk-last-offset': offset,
      'access-control-expose-headers': exposed,
    };
    for (const [name, value] of Object.entries(headers)) this.#request.setHeader(name, value);
  }
}

const exposed =
  'electric-handle, electric-offset, electric-cursor, electric-schema, electric-up-to-date, electric-shape-id, ' +
  'electric-chunk-last-offset, retry-after, x-should-retry';
