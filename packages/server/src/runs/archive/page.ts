import {
  archivedParts,
  storedType,
  type ArchivedPart,
  type ArchivedRun,
  type ArchivePage,
  type Body,
  type Operations,
} from '@millrace/contract';
import type { Queryable } from '../../db/connect.ts';
import { queryOfAnyAge } from '../bulk/create.ts';
import { findRuns } from '../list/find.ts';
import { rangeEnds } from '../list/list.ts';
import { readFilter } from '../list/read-filter.ts';
import { cursorText, readCursor, type Position } from './cursor.ts';
import { firstKey, readParts, recordOf, type PartRow } from './parts.ts';

const maxRuns = 200;
/** Characters of the runs of a page; the last run may exceed this. */
const maxCharacters = 4_194_304;

type RecordsByPart = Readonly<
  Record<ArchivedPart, { readonly rows: readonly PartRow[]; readonly isCut: boolean }>
>;

/** A page of ended runs with all their records, oldest first. Its size is bounded, whatever the runs contain. */
export async function readArchivePage(
  sql: Queryable,
  env: number,
  { filter, after }: Body<Operations['readRunArchive']>,
  now: number,
): Promise<ArchivePage> {
  const position = readCursor(after);
  if (position?.within) {
    const parts = await readAllParts(sql, env, [position.after], position.within);
    return pageOf([], parts, nextWithin(position.after, parts, position.within) ?? position.after);
  }
  const found = await readFilter(sql, [env], queryOfAnyAge(filter ?? {}), now);
  if (!found) return pageOf([], noParts, undefined);
  const { low, high } = rangeEnds(found);
  const { runs: ids, edge } = await findRuns(sql, found, {
    // Longer than an id: sorts after it, and before every other id.
    low: position && position.after >= low ? `${position.after}0` : low,
    high,
    backward: true,
    limit: maxRuns,
  });
  const { runs, isCut } = await readRuns(
    sql,
    env,
    ids.map(({ id }) => id),
  );
  const last = runs.at(-1)?.id;
  const rest = isCut
    ? last
    : edge === undefined
      ? ids.length < maxRuns
        ? undefined
        : ids.at(-1)?.id
      : edge.padEnd(60, 'z');
  const parts = await readAllParts(
    sql,
    env,
    runs.map(({ id }) => id),
  );
  const cutAt = archivedParts.map((part) => {
    const { rows, isCut: isPartCut } = parts[part];
    return isPartCut ? runs.findIndex(({ id }) => id === rows.at(-1)?.run_id) : Infinity;
  });
  const whole = Math.min(...cutAt);
  if (whole === Infinity) return pageOf(runs, parts, rest);
  // The first run alone is too large for a page.
  if (whole === 0) {
    const [first] = runs as [ArchivedRun, ...ArchivedRun[]];
    return pageOf([first], partsOf(parts, [first]), nextWithin(first.id, partsOf(parts, [first]), undefined));
  }
  const complete = runs.slice(0, whole);
  return pageOf(complete, partsOf(parts, complete), complete.at(-1)?.id);
}

const noParts: RecordsByPart = {
  attempts: { rows: [], isCut: false },
  steps: { rows: [], isCut: false },
  logs: { rows: [], isCut: false },
  spans: { rows: [], isCut: false },
};

async function readAllParts(
  sql: Queryable,
  env: number,
  runs: readonly string[],
  within?: Position['within'],
): Promise<RecordsByPart> {
  if (runs.length === 0) return noParts;
  const read = (part: ArchivedPart) => readParts(sql, env, part, runs, within?.[part]);
  return {
    attempts: await read('attempts'),
    steps: await read('steps'),
    logs: await read('logs'),
    spans: await read('spans'),
  };
}

/** Only the records of these runs. */
function partsOf(parts: RecordsByPart, runs: readonly ArchivedRun[]): RecordsByPart {
  const ids = new Set(runs.map(({ id }) => id));
  const only = ({ rows, isCut }: RecordsByPart[ArchivedPart]) => ({
    rows: rows.filter((row) => ids.has(row.run_id)),
    isCut: isCut && ids.has(rows.at(-1)?.run_id ?? ''),
  });
  return {
    attempts: only(parts.attempts),
    steps: only(parts.steps),
    logs: only(parts.logs),
    spans: only(parts.spans),
  };
}

/** The position within a run; undefined if all its records were read. */
function nextWithin(run: string, parts: RecordsByPart, before: Position['within']): string | undefined {
  const at = (part: ArchivedPart): string => parts[part].rows.at(-1)?.position ?? before?.[part] ?? firstKey;
  if (archivedParts.every((part) => !parts[part].isCut) && before !== undefined) return undefined;
  return cursorText({
    after: run,
    within: { attempts: at('attempts'), steps: at('steps'), logs: at('logs'), spans: at('spans') },
  });
}

const pageOf = (
  runs: readonly ArchivedRun[],
  parts: RecordsByPart,
  next: string | undefined,
): ArchivePage => ({
  runs: [...runs],
  attempts: parts.attempts.rows.map((row) => recordOf(row)),
  steps: parts.steps.rows.map((row) => recordOf(row)),
  logs: parts.logs.rows.map((row) => recordOf(row)),
  spans: parts.spans.rows.map((row) => recordOf(row)),
  packets: packetsOf(runs, parts.steps.rows),
  ...(next !== undefined && { next }),
});

function packetsOf(runs: readonly ArchivedRun[], steps: readonly PartRow[]): string[] {
  const named: unknown[] = runs.flatMap((run) => [
    ...(run.payload_type === storedType ? [run.payload] : []),
    ...(run.output_type === storedType ? [run.output] : []),
  ]);
  for (const step of steps) if (step['output_type'] === storedType) named.push(step['output']);
  return [...new Set(named.filter((name) => typeof name === 'string'))];
}

/** The ended ones of these runs, up to a size. */
async function readRuns(
  sql: Queryable,
  env: number,
  ids: readonly string[],
): Promise<{ runs: ArchivedRun[]; isCut: boolean }> {
  const rows = await sql<(Readonly<Record<string, unknown>> & { found: number })[]>`
    select r.id, r.task, r.status, v.version, q.name as queue, r.created_at, r.delayed_until, r.started_at, r.finished_at, r.erased_at,
           r.duration_ms::float8 as duration_ms, r.attempt as attempts, r.is_test, coalesce(r.tags, '{}') as tags, r.description, r.machine,
           r.region, r.concurrency_key, coalesce(r.idempotency_key_options ->> 'key', r.idempotency_key) as idempotency_key, r.parent_id,
           r.root_id, r.batch_id, r.schedule_id, r.replay_of, f.group_id as error_id, coalesce(r.payload, c.payload) as payload,
           coalesce(r.payload_type, c.payload_type, 'application/json') as payload_type, r.output,
           coalesce(r.output_type, 'application/json') as output_type, r.error::text as error, r.metadata, r.event, r.found
      from (
        select x.*, count(*) over ()::int as found,
               sum(x.characters) over (order by x.id) - x.characters as before
          from (
            select y.*, coalesce(length(y.payload), 0) + coalesce(length(y.output), 0) + coalesce(length(y.metadata), 0)
                        + coalesce(length(y.error::text), 0) + coalesce(length(y.event), 0) as characters
              from runs y where y.env = ${env} and y.id = any(${[...ids]}::text[]) and y.status is not null) x) r
      join queues q on q.id = r.queue_id
      left join versions v on v.id = r.version_id
      left join error_fingerprints f on f.id = r.error_fingerprint_id
      left join lateral (select * from collected_payload(r.env, r.id) p where r.collect_key is not null) c on true
     where r.before < ${maxCharacters} order by r.id`;
  const found = rows[0]?.found ?? 0;
  const runs = rows.map((row) => recordOf<ArchivedRun>(row));
  return { runs, isCut: runs.length < found };
}
