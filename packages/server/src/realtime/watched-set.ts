import { randomInt } from 'node:crypto';
import { isFinal } from '@millrace/contract';
import type { Clock } from '../db/clock.ts';
import type { Sql } from '../db/connect.ts';
import { Problem } from '../problem.ts';
import { idAt } from '../runs/list/position.ts';
import { untilWoken, type Feed, type News, type Place } from './feed.ts';
import type { Followed } from './follow.ts';
import { SetLog, type Change } from './set-log.ts';
import type { ShownRun } from './shown-run.ts';
import type { Subject } from './subject.ts';
import type { FoundRun } from './tagged-runs.ts';

/** What happened so long before this process began to watch is known to it as well. */
const recentMs = 60_000;
/** So much later than another process a change may be noticed here. */
const lagMs = 5_000;
/** A subscriber who may or may not know of something is told again after so long, if nothing else comes. */
const unsureMs = 2_500;
const maxMembers = 10_000;
const pageSize = 1_000;
/** A run that is over may get tags or metadata yet. */
const afterlifeMs = 10_000;

/** Found again for so long after they were created. */
const youthMs = 240_000;

export interface SetSources {
  readonly sql: Sql;
  readonly clock: Clock;
  readonly followed: Followed;
}

/**
 * A set of runs that somebody watches: its live runs are followed, new ones are looked for, and what changes is kept for a while,
 * so that a subscriber who comes back gets what it missed. A subscriber who comes from another process gets what happened since
 * it left, rather twice than not at all.
 */
export class WatchedSet implements Feed {
  readonly subject: Subject;
  /** Tells the places that it gave from those of other processes, and of those that watched the same before. */
  readonly #self = String(randomInt(1, 2 ** 40));
  readonly #sources: SetSources;
  readonly #log = new SetLog();
  readonly #members = new Map<string, () => void>();
  /** Over, and since when: unfollowed after a while. */
  readonly #over = new Map<string, number>();
  /** Young ids that were found already. */
  #seen = new Set<string>();
  readonly #waiting = new Set<() => void>();
  #knownSince = 0;
  #complete = false;
  #isLooking = false;
  readonly ready: Promise<void>;

  constructor(subject: Subject, sources: SetSources) {
    this.subject = subject;
    this.#sources = sources;
    this.ready = this.#begin();
  }

  /** The present. */
  get place(): Place {
    return `${this.#sources.clock.now()}.${this.#log.seq}.${this.#self}`;
  }

  get #isOver(): boolean {
    return this.#complete && this.#members.size === this.#over.size;
  }

  async next(place: Place, signal: AbortSignal): Promise<News | 'lost'> {
    await this.ready;
    const from = readPlace(place);
    if (!from) return 'lost';
    const own = from.process === this.#self;
    const isLost = (): boolean =>
      own
        ? from.seq < this.#log.droppedSeq
        : from.at < this.#knownSince || from.at - lagMs < this.#log.droppedAt;
    if (isLost()) return 'lost';
    const missed = (): Change[] =>
      own ? this.#log.since(from.seq) : this.#log.since(0).filter((change) => change.at >= from.at - lagMs);
    const isNews = (changes: readonly Change[]): boolean =>
      own ? changes.length > 0 : changes.some((change) => change.at > from.at);

    const unsure = !own && missed().length > 0;
    const until = unsure ? AbortSignal.any([signal, AbortSignal.timeout(unsureMs)]) : signal;
    while (!isNews(missed()) && !until.aborted && !this.#isOver) {
      const { woken, wake } = untilWoken(until);
      this.#waiting.add(wake);
      await woken;
      this.#waiting.delete(wake);
    }
    if (isLost()) return 'lost';
    const runs = missed().map((change) => change.run);
    return { runs, place: this.place, over: this.#isOver };
  }

  /** A run came to be that may belong to it. */
  add(id: string): void {
    if (this.#members.has(id)) return;
    this.#seen.add(id);
    this.#members.set(
      id,
      this.#sources.followed.follow(this.subject.env, id, (run) => this.#note(id, run)),
    );
  }

  /** A young run with its tags was found. */
  find({ id, tags }: FoundRun): void {
    if (!this.#seen.has(id) && this.subject.tags?.every((tag) => tags.includes(tag))) this.add(id);
  }

  /** Looks for further runs of a batch, until all have come. */
  look(): void {
    if (this.subject.tags || this.#complete || this.#isLooking) return;
    this.#isLooking = true;
    this.#discover()
      .catch(() => {})
      .finally(() => (this.#isLooking = false));
  }

  /** Lets go of runs that have long been over. */
  tidy(): void {
    const before = this.#sources.clock.now() - afterlifeMs;
    for (const [id, at] of this.#over) {
      if (at > before) break;
      this.#members.get(id)?.();
      this.#members.delete(id);
      this.#over.delete(id);
    }
    if (this.#seen.size > 2 * maxMembers) {
      const young = idAt(before - youthMs);
      this.#seen = new Set([...this.#seen].filter((id) => id >= young));
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
    const first: ShownRun[] = [];
    for (let after = ''; ;) {
      const page = await this.subject.ids(sql, { after, aliveSince, most: pageSize });
      first.push(...(await this.#meet(page.map((member) => member.id))));
      if (first.length > maxMembers) {
        throw new Problem(
          422,
          `More than ${maxMembers} runs of this subscription are not over. Name a further tag, or a shorter createdAt.`,
        );
      }
      if (page.length < pageSize) break;
      after = page.at(-1)?.id ?? '';
    }
    const changedAt = (run: ShownRun): number => run.updated_at.getTime();
    for (const run of first.toSorted((a, b) => changedAt(a) - changedAt(b))) {
      // One that has changed since it was met is there already, as it is now.
      if (changedAt(run) >= aliveSince.getTime() && !this.#log.has(run.id))
        this.#log.add(run, changedAt(run));
    }
    this.#knownSince = aliveSince.getTime();
  }

  /** Follows runs from now on; resolves with how they are. */
  #meet(ids: readonly string[]): Promise<ShownRun[]> {
    return Promise.all(
      ids.map(
        (id) =>
          new Promise<ShownRun | null>((resolve) => {
            let met = false;
            this.#seen.add(id);
            const stop = this.#sources.followed.follow(this.subject.env, id, (run) => {
              if (met) return this.#note(id, run);
              met = true;
              if (run === null) this.#forget(id);
              else if (isFinal(run.status)) this.#over.set(id, this.#sources.clock.now());
              resolve(run);
            });
            this.#members.set(id, stop);
          }),
      ),
    ).then((runs) => runs.filter((run) => run !== null));
  }

  #note(id: string, run: ShownRun | null): void {
    const now = this.#sources.clock.now();
    if (run === null || !this.subject.belongs(run)) return this.#forget(id);
    if (isFinal(run.status) && !this.#over.has(id)) this.#over.set(id, now);
    this.#log.add(run, now);
    for (const wake of this.#waiting) wake();
  }

  #forget(id: string): void {
    this.#members.get(id)?.();
    this.#members.delete(id);
    this.#over.delete(id);
  }

  async #discover(): Promise<void> {
    await this.ready;
    const { sql } = this.#sources;
    const complete = await this.subject.isComplete(sql);
    for (const { id } of await this.subject.ids(sql, { after: '', most: pageSize })) {
      if (!this.#seen.has(id)) this.add(id);
    }
    this.#complete = complete;
    if (this.#isOver) for (const wake of this.#waiting) wake();
  }
}

interface ReadPlace {
  readonly at: number;
  readonly seq: number;
  readonly process: string;
}

function readPlace(place: Place): ReadPlace | undefined {
  const match = /^(\d{1,15})\.(\d{1,15})\.(\d{1,15})$/.exec(place);
  return match ? { at: Number(match[1]), seq: Number(match[2]), process: match[3] ?? '' } : undefined;
}
