import type { Queryable } from '../../db/connect.ts';
import type { Job } from '../../jobs/job.ts';
import type { Engine } from '../engine/engine.ts';
import { levelWord, maxBlockCharacters, taskWord, Terms } from './terms.ts';

/** Lines of a block. */
const blockLines = 8_192;
/** Lines read at a time. A line may have 128 KiB. */
const pageLines = 256;
const blocksPerTick = 20;
const lockKey = 'millrace log blocks';

interface LineRow {
  readonly id: string;
  readonly at: Date;
  readonly level: string;
  readonly message: string;
  readonly properties: string | null;
  readonly task: string | null;
}

/**
 * The job that writes the blocks with which searches skip lines. A line gets its id before its transaction ends, so lines may appear below
 * others. A tick therefore processes only lines up to the last one that an earlier tick saw.
 */
export const logIndexer = ({ sql }: Pick<Engine, 'sql'>): Job => {
  let seenId: string | undefined;
  return {
    name: 'log indexer',
    everyMs: 10_000,
    async tick() {
      const until = seenId;
      const [newest] = await sql<{ id: string }[]>`select last_value as id from pg_sequences
        where schemaname = (select x.relnamespace::regnamespace::text from pg_class x where x.oid = 'runs'::regclass)
          and sequencename = 'run_logs_id_seq' and last_value is not null`;
      seenId = newest?.id;
      if (until === undefined) return false;
      let written = 0;
      for (const env of await environmentsWithLines(sql)) {
        while (written < blocksPerTick && (await writeBlock(sql, env, until))) written += 1;
      }
      // The next tick may continue with the lines that this one saw.
      if (written === blocksPerTick) seenId = until;
      return written === blocksPerTick;
    },
  };
};

/** One index lookup for each environment. */
async function environmentsWithLines(sql: Queryable): Promise<number[]> {
  const rows = await sql<{ env: number }[]>`
    with recursive e as (
      (select env from run_logs order by env limit 1)
      union all
      select (select l.env from run_logs l where l.env > e.env order by l.env limit 1) from e where e.env is not null
    )
    select env from e where env is not null`;
  return rows.map(({ env }) => env);
}

/** False if there are not enough lines for a block, or another process writes blocks. */
const writeBlock = (sql: Engine['sql'], env: number, until: string): Promise<boolean> =>
  sql.begin(async (tx) => {
    const [lock] = await tx<{ taken: boolean }[]>`
      select pg_try_advisory_xact_lock(hashtext(${lockKey})) as taken`;
    if (!lock?.taken) return false;
    const [last] = await tx<{ id: string }[]>`
      select last_id as id from log_blocks where env = ${env} order by last_id desc limit 1`;
    const [enough] = await tx`
      select from run_logs where env = ${env} and id > ${last?.id ?? '0'} and id <= ${until}
       order by id offset ${blockLines - 1} limit 1`;
    if (!enough) return false;
    const terms = new Terms();
    let characters = 0;
    let lines = 0;
    let first: string | undefined;
    let cursor = last?.id ?? '0';
    let [from, to] = [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY];
    while (lines < blockLines && characters < maxBlockCharacters) {
      const page = await tx<LineRow[]>`
        select l.id, l.at, l.level, l.message, l.properties, r.task
          from (select * from run_logs where env = ${env} and id > ${cursor} and id <= ${until} order by id limit ${pageLines}) l
          left join runs r on r.env = l.env and r.id = l.run_id
         order by l.id`;
      for (const { id, at, level, message, properties, task } of page) {
        first ??= id;
        cursor = id;
        lines += 1;
        characters += message.length + (properties?.length ?? 0);
        from = Math.min(from, at.getTime());
        to = Math.max(to, at.getTime());
        terms.addText(message);
        if (properties !== null) terms.addText(properties);
        terms.addWord(levelWord(level));
        if (task !== null) terms.addWord(taskWord(task));
        if (lines >= blockLines || characters >= maxBlockCharacters) break;
      }
      if (page.length === 0) break;
    }
    await tx`
      insert into log_blocks (env, first_id, last_id, at_from, at_to, terms)
      values (${env}, ${first ?? cursor}, ${cursor}, ${new Date(from)}, ${new Date(to)}, ${terms.bytes})`;
    return true;
  });

const maxPruned = 1_000;

/** Deletes blocks whose lines are all older. */
export async function pruneBlocks(sql: Queryable, before: Date): Promise<void> {
  await sql`
    delete from log_blocks where ctid = any(array(select ctid from log_blocks where at_to < ${before} limit ${maxPruned}))`;
}
