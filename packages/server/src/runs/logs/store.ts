import type { LogLine, SpanChunk } from '@millrace/contract/runner';
import type { Queryable } from '../../db/connect.ts';
import { groupCommit } from '../../db/group.ts';
import type { VariableCache } from '../../envvars/variable-cache.ts';
import { redactLinesOf } from '../../envvars/redact/redacting.ts';
import type { Job } from '../../jobs/job.ts';
import type { Tracing } from '../../tracing/tracing.ts';
import { shownObject, shownText } from '../../json/shown.ts';
import type { Engine } from '../engine.ts';
import { cleanSpans, insertSpans, type NewSpans } from '../spans/store.ts';
import { pruneBlocks } from './blocks.ts';
import { storableText } from '../storable.ts';

interface NewLine extends LogLine {
  readonly env: number;
}

/** Of a message, and of properties as JSON. The SDK cuts at the same length, and its note of what is missing is stored too. */
export const maxLineCharacters = 64 * 1024;
const noteCharacters = 64;

export type StoreLines = (
  env: number,
  lines: readonly LogLine[],
  spans?: readonly SpanChunk[],
  traceparentOf?: (run: string) => string | null | undefined,
) => Promise<void>;

interface Said {
  readonly lines: readonly NewLine[];
  readonly spans: readonly NewSpans[];
}

/** Stores what runs write, and the spans of their code, without the secrets of their environment. The commit does not wait for the disk: when the machine of the database loses power, the last of them may be lost. */
export function createStoreLines(
  engine: Engine,
  redactor: VariableCache['redactor'],
  tracing?: Pick<Tracing, 'spans' | 'line'>,
  stored: (env: number) => void = () => {},
): StoreLines {
  const { sql, clock } = engine;
  const store = groupCommit<Said, void>(
    async (said) => {
      const lines = said.flatMap((one) => one.lines);
      const spans = said.flatMap((one) => one.spans);
      await sql.begin(async (tx) => {
        await tx`set local synchronous_commit = off`;
        if (lines.length > 0) await insertLines(tx, lines);
        if (spans.length > 0) await insertSpans(tx, spans, new Date(clock.now()));
      });
      return said.map(() => undefined);
    },
    { maxItems: 100 },
  );
  return async (env, lines, chunks, traceparentOf) => {
    const clean = await redactLinesOf(redactor, env, lines);
    const spans = chunks?.length ? cleanSpans(await redactor(env), env, chunks) : [];
    if (tracing?.line) {
      for (const line of clean) {
        const properties = line.properties === undefined ? undefined : shownObject(line.properties);
        tracing.line({ ...line, properties, traceparent: traceparentOf?.(line.run) });
      }
    }
    if (tracing?.spans) for (const chunk of spans) tracing.spans(chunk);
    await store({ lines: clean.map((line) => ({ ...line, env })), spans });
    if (clean.length > 0) stored(env);
  };
}

const insertLines = (sql: Queryable, lines: readonly NewLine[]) => sql`
  insert into run_logs (env, run_id, attempt, at, level, message, properties)
  select * from unnest(
    ${lines.map((line) => line.env)}::int[], ${lines.map((line) => line.run)}::text[],
    ${lines.map((line) => line.attempt)}::int[], ${lines.map((line) => new Date(line.at))}::timestamptz[],
    ${lines.map((line) => line.level)}::text[], ${lines.map((line) => short(line.message))}::text[],
    ${lines.map((line) => (line.properties === undefined ? null : shortJson(line.properties)))}::text[])`;

const cutAt = (text: string, limit: number): string =>
  storableText(`${text.slice(0, limit)}… (${text.length - limit} more characters)`);

const short = (text: string): string =>
  text.length > maxLineCharacters + noteCharacters ? cutAt(text, maxLineCharacters) : storableText(text);

/** Whether the SDK cut the text. Each character may be escaped, and a note follows. */
const isCut = (text: string): boolean =>
  text.startsWith('{"cut":"') && text.length <= 2 * maxLineCharacters + noteCharacters;

/** Properties that are too long become other JSON. */
const shortJson = (text: string): string =>
  text.length > maxLineCharacters && !isCut(text)
    ? JSON.stringify({ cut: cutAt(text, maxLineCharacters) })
    : storableText(shownText(text));

const maxPruned = 1_000;

/** The job that deletes lines that are older than their retention. */
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
