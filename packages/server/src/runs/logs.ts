import type { LogLine, SpanChunk } from '@millrace/contract/runner';
import type { Queryable } from '../db/connect.ts';
import { groupCommit } from '../db/group.ts';
import type { VariableCache } from '../envvars/variable-cache.ts';
import { redactLinesOf } from '../envvars/redact/redacting.ts';
import type { Job } from '../jobs/job.ts';
import { shownObject, shownText } from '../json/shown.ts';
import type { Engine } from './engine.ts';
import { cleanSpans, insertSpans, type NewSpans } from './spans/store.ts';
import { storableText } from './storable.ts';

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
) => Promise<void>;

interface Said {
  readonly lines: readonly NewLine[];
  readonly spans: readonly NewSpans[];
}

/** Stores what runs write, and the spans of their code, without the secrets of their environment. The commit does not wait for the disk: when the machine of the database loses power, the last of them may be lost. */
export function createStoreLines(engine: Engine, redactor: VariableCache['redactor']): StoreLines {
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
  return async (env, lines, chunks) => {
    const clean = await redactLinesOf(redactor, env, lines);
    const spans = chunks?.length ? cleanSpans(await redactor(env), env, chunks) : [];
    await store({ lines: clean.map((line) => ({ ...line, env })), spans });
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

/** The properties of a line, in a form that can be shown whatever the runner sent. */
export const propertiesOf = ({
  properties,
}: Pick<StoredLine, 'properties'>): Record<string, unknown> | undefined =>
  properties === null ? undefined : shownObject(properties);

export interface StoredLine {
  readonly id: string;
  readonly attempt: number;
  readonly at: Date;
  readonly level: LogLine['level'];
  readonly message: string;
  readonly properties: string | null;
}

/** A page of a run's lines, in the order of their arrival. */
export const readLines = (
  { sql }: Engine,
  env: number,
  run: string,
  after: number,
  limit: number,
): Promise<StoredLine[]> =>
  sql<StoredLine[]>`
    select id, attempt, at, level, message, properties from run_logs
     where env = ${env} and run_id = ${run} and id > ${after} order by id limit ${limit}`;

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
    return count >= maxPruned;
  },
});
