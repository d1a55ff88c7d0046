import type { ComparedTask, EndedRuns } from '@millrace/contract';
import type { Queryable } from '../../db/connect.ts';
import { failuresOf, readVersionTasks, type StatsPoint } from '../../telemetry/stats/read.ts';
import type { FoundVersion } from '../deployments/find.ts';
import { optionChanges } from './option-changes.ts';

type Options = Readonly<Record<string, unknown>>;

/** A failure rate that grew by less is shown, but does not change the order. */
const minRise = 0.01;

const ranks = { added: 0, removed: 1, changed: 2, same: 3 } as const;

/**
 * The tasks of two versions, with their differences and their ended runs. Those that fail more often on the newer version are first. It reads
 * the manifests of both, and at most 28 roll-ups for each task of each, however many runs there were.
 */
export async function compareTasks(
  sql: Queryable,
  env: number,
  before: FoundVersion,
  after: FoundVersion,
): Promise<ComparedTask[]> {
  const [old, next] = await Promise.all([readTasks(sql, env, before), readTasks(sql, env, after)]);
  const ids = [...new Set([...old.keys(), ...next.keys()])].toSorted();
  return ids
    .map((id): ComparedTask => {
      const [from, to] = [old.get(id), next.get(id)];
      const changes = from && to ? optionChanges(from.options, to.options) : [];
      return {
        id,
        change: from ? (to ? (changes.length > 0 ? 'changed' : 'same') : 'removed') : 'added',
        changes,
        before: from?.runs ?? null,
        after: to?.runs ?? null,
      };
    })
    .toSorted(
      (first, second) => riseOf(second) - riseOf(first) || ranks[first.change] - ranks[second.change],
    );
}

/** How much more often the task fails on the newer version; 0 if hardly. */
function riseOf({ before, after }: ComparedTask): number {
  const rise = (after?.failureRate ?? 0) - (before?.failureRate ?? 0);
  return rise < minRise ? 0 : rise;
}

async function readTasks(
  sql: Queryable,
  env: number,
  { id, version }: FoundVersion,
): Promise<Map<string, { readonly options: Options; readonly runs: EndedRuns }>> {
  const tasks = await sql<{ id: string; options: Options; schema: Options | null; note: string | null }[]>`
    select id, manifest - 'id' as options, payload_schema as schema, payload_schema_note as note
      from tasks where version_id = ${id}`;
  const activity = await readVersionTasks(
    sql,
    env,
    version,
    tasks.map((task) => task.id),
  );
  return new Map(
    tasks.map((task) => [
      task.id,
      {
        options: {
          ...task.options,
          ...(task.schema !== null && { payloadSchema: task.schema }),
          ...(task.note !== null && { payloadSchemaNote: task.note }),
        },
        runs: endedRunsOf(activity.get(task.id)),
      },
    ]),
  );
}

function endedRunsOf(point: StatsPoint | undefined): EndedRuns {
  if (!point) return { completed: 0, failed: 0, canceled: 0, failureRate: null, p50: null, p95: null };
  const failed = failuresOf(point);
  const ended = point.completed + failed;
  const [p50, p95] = point.lasted
    .quantiles([0.5, 0.95])
    .map((ms) => (ms === undefined ? null : Math.round(ms)));
  return {
    completed: point.completed,
    failed,
    canceled: point.canceled + point.expired,
    failureRate: ended === 0 ? null : failed / ended,
    p50: p50 ?? null,
    p95: p95 ?? null,
  };
}
