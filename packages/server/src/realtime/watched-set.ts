import { randomInt } from 'node:crypto';
import { isFinal } from '@millrace/contract';
import type { Clock } from '../db/clock.ts';
import type { Sql } from '../db/connect.ts';
import { Problem } from '../problem.ts';
import { idAt } from '../runs/list/position.ts';
import { untilWoken, type Cursor, type Feed, type Update } from './feed.ts';
import type { Followed } from './follow.ts';
import { SetLog, type Change } from './set-log.ts';
import type { RunSnapshot } from './run-snapshot.ts';
import type { Subject } from './subject.ts';
import type { FoundRun } from './tagged-runs.ts';

/** The log begins with the changes of this period before the process began to watch. */
const recentMs = 60_000;
/** Maximum delay with which a change may be read here after another process. */
const lagMs = 5_000;
/**
 * If a given change has not been found after this long, subscribers receive again the changes that they may have seen in another process.
 */
const unsureMs = 2_500;
const maxMembers = 10_000;
const pageSize = 1_000;
/** How long a run is followed after its end, because its tags and metadata may still change. */
const afterEndMs = 10_000;

/** How long after its creation a scan may find a run again. */
const newRunMs = 240_000;

export interface SetSources {
  readonly sql: Sql;
  readonly clock: Clock;
  readonly followed: Followed;
}

/**
 * A set of runs with subscribers. Its live runs are followed, new ones are searched for, and a log of changes lets a reconnecting
 * subscriber receive the changes it missed. A subscriber that comes from another process receives the changes since it left, at least once.
 */
export class WatchedSet implements Feed {
  readonly subject: Subject;
  /** Marks the cursors of this set, to distinguish them from those of other processes and of earlier sets. */
  readonly #self = String(randomInt(1, 2 ** 40));
  readonly #sources: SetSources;
  readonly #log = new SetLog();
  readonly #members = new Map<string, () => void>();
  /** The ended runs with their end times; they are unfollowed after a while. */
  readonly #ended = new Map<string, number>();
  /** The new runs that have already been found. */
  #seen = new Set<string>();
  readonly #waiting = new Set<() => void>();
  #knownSince = 0;
  #complete = false;
  #isDiscovering = false;
  readonly ready: Promise<void>;

  constructor(subject: Subject, sources: SetSources) {
    this.subject = subject;
    this.#sources = sources;
    this.ready = this.#begin();
  }

  /** The cursor after all known changes. */
  get cursor(): Cursor {
    return `${this.#sources.clock.now()}.${this.#log.seq}.${this.#self}`;
  }

  get #hasEnded(): boolean {
    return this.#complete && this.#members.size === this.#ended.size;
  }

  async next(cursor: Cursor, signal: AbortSignal): Promise<Update | 'lost'> {
    await this.ready;
    const from = readCursor(cursor);
    if (!from) return 'lost';
    const own = from.process === this.#self;
    const isLost = (): boolean =>
      own
        ? from.seq < this.#log.droppedSeq
        : from.at < this.#knownSince || from.at - lagMs < this.#log.droppedAt;
    if (isLost()) return 'lost';
    const missed = (): Change[] =>
      own ? this.#log.since(from.seq) : this.#log.since(0).filter((change) => change.at >= from.at - lagMs);
    const hasNew = (changes: readonly Change[]): boolean =>
      own ? changes.length > 0 : changes.some((change) => change.at > from.at);

    const unsure = !own && missed().length > 0;
    const until = unsure ? AbortSignal.any([signal, AbortSignal.timeout(unsureMs)]) : signal;
    while (!hasNew(missed()) && !until.aborted && !this.#hasEnded) {
      const { woken, wake } = untilWoken(until);
      this.#waiting.add(wake);
      await woken;
      this.#waiting.delete(wake);
    }
    if (isLost()) return 'lost';
    const runs = missed().map((change) => change.run);
    return { runs, cursor: this.cursor, ended: this.#hasEnded };
  }

  /** Adds a run that may belong to the set. */
  add(id: string): void {
    if (this.#members.has(id)) return;
    this.#seen.add(id);
    this.#members.set(
      id,
      this.#sources.followed.follow(this.subject.env, id, (run) => this.#record(id, run)),
    );
  }

  /** Adds a run that a scan found, unless it is known or lacks a tag. */
  found({ id, tags }: FoundRun): void {
    if (!this.#seen.has(id) && this.subject.tags?.every((tag) => tags.includes(tag))) this.add(id);
  }

  /** Searches for further runs of a batch, until it is complete. */
  scan(): void {
    if (this.subject.tags || this.#complete || this.#isDiscovering) return;
    this.#isDiscovering = true;
    this.#discover()
      .catch(() => {})
      .finally(() => (this.#isDiscovering = false));
  }

  /** Stops following runs that ended a while ago. */
  tidy(): void {
    const before = this.#sources.clock.now() - afterEndMs;
    for (const [id, at] of this.#ended) {
      if (at > before) break;
      this.#members.get(id)?.();
      this.#members.delete(id);
      this.#ended.delete(id);
    }
    if (this.#seen.size > 2 * maxMembers) {
      const oldest = idAt(before - newRunMs);
      this.#seen = new Set([...this.#seen].filter((id) => id >= oldest));
    }
  }

  close(): void {
    for (const stop of this.#members.values()) stop();
    this.#members.clear();
    for (const wake of this.#waiting) wake();
  }

  async #begin(): Promise<void> {
    const { sql, clock } = this.#sources;
    const aliveSince = new Date(clock.now() - recentMs);
    this.#complete = await this.subject.isComplete(sql);
    const first: RunSnapshot[] = [];
    for (let after = ''; ;) {
      const page = await this.subject.ids(sql, { after, aliveSince, limit: pageSize });
      first.push(...(await this.#followAll(page.map((member) => member.id))));
      if (first.length > maxMembers) {
        throw new Problem(
          'limit_reached',
          `More than ${maxMembers} runs in this subscription have not ended. Add a tag, or use a shorter createdAt.`,
        );
      }
      if (page.length < pageSize) break;
      after = page.at(-1)?.id ?? '';
    }
    const changedAt = (run: RunSnapshot): number => run.updated_at.getTime();
    for (const run of first.toSorted((a, b) => changedAt(a) - changedAt(b))) {
      // A run that changed since it was read is already in the log.
      if (changedAt(run) >= aliveSince.getTime() && !this.#log.has(run.id))
        this.#log.add(run, changedAt(run));
    }
    this.#knownSince = aliveSince.getTime();
  }

  /** Follows runs; resolves with their current states. */
  #followAll(ids: readonly string[]): Promise<RunSnapshot[]> {
    return Promise.all(
      ids.map(
        (id) =>
          new Promise<RunSnapshot | null>((resolve) => {
            let isRead = false;
            this.#seen.add(id);
            const stop = this.#sources.followed.follow(this.subject.env, id, (run) => {
              if (isRead) return this.#record(id, run);
              isRead = true;
              if (run === null) this.#forget(id);
              else if (isFinal(run.status)) this.#ended.set(id, this.#sources.clock.now());
              resolve(run);
            });
            this.#members.set(id, stop);
          }),
      ),
    ).then((runs) => runs.filter((run) => run !== null));
  }

  #record(id: string, run: RunSnapshot | null): void {
    const now = this.#sources.clock.now();
    if (run === null || !this.subject.belongs(run)) return this.#forget(id);
    if (isFinal(run.status) && !this.#ended.has(id)) this.#ended.set(id, now);
    this.#log.add(run, now);
    for (const wake of this.#waiting) wake();
  }

  #forget(id: string): void {
    this.#members.get(id)?.();
    this.#members.delete(id);
    this.#ended.delete(id);
  }

  async #discover(): Promise<void> {
    await this.ready;
    const { sql } = this.#sources;
    const complete = await this.subject.isComplete(sql);
    for (const { id } of await this.subject.ids(sql, { after: '', limit: pageSize })) {
      if (!this.#seen.has(id)) this.add(id);
    }
    this.#complete = complete;
    if (this.#hasEnded) for (const wake of this.#waiting) wake();
  }
}

interface ReadCursor {
  readonly at: number;
  readonly seq: number;
  readonly process: string;
}

function readCursor(cursor: Cursor): ReadCursor | undefined {
  const match = /^(\d{1,15})\.(\d{1,15})\.(\d{1,15})$/.exec(cursor);
  return match ? { at: Number(match[1]), seq: Number(match[2]), process: match[3] ?? '' } : undefined;
}
