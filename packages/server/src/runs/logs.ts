import type { LogLine } from '@millrace/contract/runner';
import { groupCommit } from '../db/group.ts';
import { shownObject, shownText } from '../json/shown.ts';
import type { Engine } from './engine.ts';
import { storableText } from './storable.ts';

interface KeptLine extends LogLine {
  readonly env: number;
}

/** Characters of a message, and of properties as JSON; the SDK cuts at the same place, and its note of what is missing is kept. */
export const maxLineCharacters = 64 * 1024;
const noteCharacters = 64;

/**
 * Keeps what runs write. Lines are the one thing that may be lost in a power cut of the database: they do not wait for the disk.
 */
export function createKeepLines(engine: Engine): (env: number, lines: readonly LogLine[]) => Promise<void> {
  const keep = groupCommit<readonly KeptLine[], void>(
    async (groups) => {
      const lines = groups.flat();
      await engine.sql.begin(async (tx) => {
        await tx`set local synchronous_commit = off`;
        await tx`
          insert into run_logs (env, run_id, attempt, at, level, message, properties)
          select * from unnest(
            ${lines.map((line) => line.env)}::int[], ${lines.map((line) => line.run)}::text[],
            ${lines.map((line) => line.attempt)}::int[], ${lines.map((line) => new Date(line.at))}::timestamptz[],
            ${lines.map((line) => line.level)}::text[], ${lines.map((line) => short(line.message))}::text[],
            ${lines.map((line) => (line.properties === undefined ? null : shortJson(line.properties)))}::text[])`;
      });
      return groups.map(() => undefined);
    },
    { maxItems: 100 },
  );
  return (env, lines) => keep(lines.map((line) => ({ ...line, env })));
}

const cutAt = (text: string, limit: number): string =>
  storableText(`${text.slice(0, limit)}… (${text.length - limit} more characters)`);

const short = (text: string): string =>
  text.length > maxLineCharacters + noteCharacters ? cutAt(text, maxLineCharacters) : storableText(text);

/** Whether the SDK cut it: text with its note, in which each character may be escaped. */
const isCut = (text: string): boolean =>
  text.startsWith('{"cut":"') && text.length <= 2 * maxLineCharacters + noteCharacters;

/** What is too long stays JSON. */
const shortJson = (text: string): string =>
  text.length > maxLineCharacters && !isCut(text)
    ? JSON.stringify({ cut: cutAt(text, maxLineCharacters) })
    : storableText(shownText(text));

/** The properties of a line. Whatever its runner sent, the page with it can be read. */
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

/** A page of a run's lines, in the order in which they came. */
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
