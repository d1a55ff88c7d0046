import type { LogLine, SpanChunk } from '@millrace/contract/runner';
import type { Queryable } from '../../db/connect.ts';
import { isTransient } from '../../db/errors.ts';
import { groupCommit } from '../../db/group.ts';
import { redactLine } from '../../envvars/redact/messages.ts';
import type { Redactor } from '../../envvars/redact/redactor.ts';
import type { VariableCache } from '../../envvars/variable-cache.ts';
import type { Job } from '../../jobs/job.ts';
import type { Tracing } from '../../telemetry/tracing/tracing.ts';
import { responseObject } from '../../json/response.ts';
import { untilNextTry } from '../complete/with-retry.ts';
import type { Engine } from '../engine/engine.ts';
import { addModelCalls } from '../models/store.ts';
import { cleanSpans, insertSpans, type NewSpans } from '../spans/store.ts';
import { pruneBlocks } from './blocks.ts';
import { fitLine } from './fit.ts';
import { missingLines, missingSpans } from './missing.ts';
import { newFrames, type FrameNumber } from './new-frames.ts';

/** Lines and spans stored together. */
export interface LineFrame {
  readonly env: number;
  readonly lines: readonly LogLine[];
  readonly spans?: readonly SpanChunk[];
  /** The runner that sent it, and the frame's number: a frame is stored once, regardless of how often it is sent. */
  readonly from?: FrameNumber;
  readonly traceparentOf?: (run: string) => string | null | undefined;
}

/** Runs a part of the work when its turn comes. */
export type InTurn = <R>(slice: () => R) => R | Promise<R>;

/**
 * Stores a frame; frames are stored in call order. Resolves when the frame has been processed and the next one may follow. `stored` resolves
 * when the frame is on disk, after any period in which PostgreSQL is unavailable, and rejects only if `isOver` reports that its runner can no
 * longer be reached.
 */
export type StoreLines = (
  frame: LineFrame,
  inTurn?: InTurn,
  isOver?: () => boolean,
) => Promise<{ readonly stored: Promise<void> }>;

interface CleanFrame {
  readonly env: number;
  readonly from: FrameNumber | undefined;
  readonly lines: readonly LogLine[];
  readonly spans: readonly NewSpans[];
  readonly isOver: () => boolean;
}

/** Lines or spans of a slice. */
const sliceLines = 100;
const sliceSpans = 50;
/** Minimum characters of a slice: its last line may exceed this. */
const sliceCharacters = 65_536;
/**
 * Maximum characters of one write. Larger ones are hardly faster, but the event loop and the flush of the write-ahead log, which other tenants
 * wait for, take longer.
 */
const maxWritten = 128 * 1024;

/** Stores the lines and spans of runs without the secrets of their environment. */
export function createStoreLines(
  engine: Engine,
  redactor: VariableCache['redactor'],
  tracing?: Pick<Tracing, 'spans' | 'line'>,
  stored: (env: number) => void = () => {},
): StoreLines {
  const { sql, clock, log } = engine;
  const writeOnce = (frames: readonly CleanFrame[]): Promise<readonly boolean[]> =>
    sql.begin(async (tx) => {
      // A confirmed line survives a crash of PostgreSQL. The commit does not wait for a standby.
      await tx`set local synchronous_commit = local`;
      const isNew = await newFrames(tx, frames);
      const fresh = frames.filter((_, at) => isNew[at]);
      const lines = fresh.flatMap((frame) => frame.lines.map((line) => ({ ...line, env: frame.env })));
      const spans = fresh.flatMap((frame) => frame.spans);
      if (lines.length > 0) await insertLines(tx, lines);
      if (spans.length > 0) {
        const at = new Date(clock.now());
        await insertSpans(tx, spans, at);
        await addModelCalls(tx, spans, at);
      }
      return isNew;
    });
  const write = groupCommit<CleanFrame, boolean>(
    async (frames) => {
      for (;;) {
        try {
          return await writeOnce(frames);
        } catch (error) {
          // The frames behind it wait too, because a later frame must not be stored before an earlier one.
          if (!isTransient(error) || frames.every(({ isOver }) => isOver())) throw error;
          log.warn('lines.waiting', { frames: frames.length, error: String(error) });
          await untilNextTry();
        }
      }
    },
    { maxItems: 100, maxSize: maxWritten, sizeOf, tenantOf: ({ env }) => env },
  );
  /** Returns whether the frame was stored now rather than earlier. */
  const writeOrNote = async (frame: CleanFrame, noted: () => CleanFrame): Promise<boolean> => {
    try {
      return await write(frame);
    } catch (error) {
      if (isTransient(error)) throw error;
      log.warn('lines.notStored', { env: frame.env, lines: frame.lines.length, error: String(error) });
    }
    try {
      await write(noted());
    } catch (error) {
      if (isTransient(error)) throw error;
      log.warn('lines.notNoted', { env: frame.env, error: String(error) });
    }
    return false;
  };
  const known = async (env: number, isOver: () => boolean): Promise<Redactor> => {
    for (;;) {
      try {
        return await redactor(env);
      } catch (error) {
        if (!isTransient(error) || isOver()) throw error;
        await untilNextTry();
      }
    }
  };
  const exported = async (frame: LineFrame, clean: CleanFrame, inTurn: InTurn): Promise<void> => {
    if (tracing?.line) {
      for (const part of partsOf(clean.lines, sliceLines)) {
        await inTurn(() => {
          for (const line of part) {
            const properties = line.properties === undefined ? undefined : responseObject(line.properties);
            tracing.line?.({ ...line, properties, traceparent: frame.traceparentOf?.(line.run) });
          }
        });
      }
    }
    if (tracing?.spans) for (const chunk of clean.spans) tracing.spans(chunk);
  };

  return async (frame, inTurn = (slice) => slice(), isOver = () => false) => {
    const { env, from } = frame;
    const secrets = await known(env, isOver);
    const lines: LogLine[] = [];
    for (let done = 0; done < frame.lines.length;) {
      await inTurn(() => {
        const end = Math.min(frame.lines.length, done + sliceLines);
        for (let characters = 0; done < end && characters < sliceCharacters; done++) {
          const clean = redactLine(secrets, fitLine(frame.lines[done] as LogLine, clock.now()));
          characters += clean.message.length + (clean.properties?.length ?? 0);
          lines.push(clean);
        }
      });
    }
    const chunks = Array.isArray(frame.spans) ? frame.spans : [];
    const spans: NewSpans[] = [];
    for (const part of chunks.flatMap(partsOfChunk))
      spans.push(...(await inTurn(() => cleanSpans(secrets, env, [part]))));
    const clean = { env, from, lines, spans, isOver };
    const noted = (): CleanFrame => ({
      ...clean,
      // A later frame may already be stored.
      from: undefined,
      lines: missingLines(lines),
      spans: cleanSpans(secrets, env, missingSpans(chunks)),
    });
    const written = writeOrNote(clean, noted);
    const done = written.then(async (isNew) => {
      if (lines.length > 0) stored(env);
      if (isNew) await exported(frame, clean, inTurn);
    });
    // It may reject before the caller waits for it.
    done.catch(() => {});
    return { stored: done };
  };
}

function partsOf<T>(items: readonly T[], max: number): (readonly T[])[] {
  const parts: (readonly T[])[] = [];
  for (let from = 0; from < items.length; from += max) parts.push(items.slice(from, from + max));
  return parts;
}

/** The number of dropped spans is kept with the first part. */
const partsOfChunk = (chunk: SpanChunk): SpanChunk[] =>
  !Array.isArray(chunk.spans) || chunk.spans.length <= sliceSpans
    ? [chunk]
    : partsOf(chunk.spans, sliceSpans).map((spans, at) => ({
        ...chunk,
        spans,
        dropped: at === 0 ? (chunk.dropped ?? 0) : 0,
      }));

function sizeOf({ lines, spans }: CleanFrame): number {
  let size = 0;
  for (const { message, properties = '' } of lines) size += message.length + properties.length;
  for (const { text } of spans) size += text.length;
  return size;
}

const insertLines = (sql: Queryable, lines: readonly (LogLine & { readonly env: number })[]) => sql`
  insert into run_logs (env, run_id, attempt, at, level, message, properties)
  select * from unnest(
    ${lines.map((line) => line.env)}::int[], ${lines.map((line) => line.run)}::text[],
    ${lines.map((line) => line.attempt)}::int[], ${lines.map((line) => new Date(line.at))}::timestamptz[],
    ${lines.map((line) => line.level)}::text[], ${lines.map((line) => line.message)}::text[],
    ${lines.map((line) => line.properties ?? null)}::text[])`;

const maxPruned = 1_000;

/** The job that deletes lines older than their retention. */
export const logPruner = ({ sql, clock }: Pick<Engine, 'sql' | 'clock'>, retentionMs: number): Job => ({
  name: 'log pruner',
  everyMs: 60_000,
  async tick() {
    const before = new Date(clock.now() - retentionMs);
    const { count } = await sql`
      delete from run_logs where ctid = any(array(
        select ctid from run_logs where at < ${before} limit ${maxPruned}))`;
    await pruneBlocks(sql, before);
    return count >= maxPruned;
  },
});
