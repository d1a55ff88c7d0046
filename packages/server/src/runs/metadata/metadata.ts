import type { MetadataOperation } from '@millrace/contract';
import { isFinal, maxMetadataBytes, type RunStatus } from '@millrace/contract';
import type { Transaction } from '../../db/connect.ts';
import { retryOnConflict } from '../../db/retry.ts';
import type { Redactor } from '../../envvars/redact/redactor.ts';
import { tryParse } from '../../json/foreign.ts';
import { isTooDeep, jsonOfField } from '../../json/levels.ts';
import { responseObject } from '../../json/response.ts';
import { badRequest, Problem, unprocessable } from '../../problem.ts';
import type { Engine } from '../engine/engine.ts';
import { holdAttempt } from '../dispatch/hold-attempt.ts';
import { pathFacets, type Carried, type RunPath } from '../facets/path-facets.ts';
import { recordFacets } from '../facets/record.ts';
import { applyOperations, refusedKey, type Metadata } from '@millrace/contract/metadata';

export interface MetadataChange {
  readonly metadata?: Metadata | undefined;
  /** The fence of the attempt that makes the change; without one, any caller may make it. */
  readonly fence?: number | undefined;
  readonly operations?: readonly MetadataOperation[] | undefined;
  readonly parentOperations?: readonly MetadataOperation[] | undefined;
  readonly rootOperations?: readonly MetadataOperation[] | undefined;
}

/** A run's metadata; undefined if the run does not exist. */
export async function readMetadata({ sql }: Engine, env: number, run: string): Promise<Metadata | undefined> {
  const [row] = await sql<{ metadata: string | null }[]>`
    select metadata from runs where env = ${env} and id = ${run}`;
  return (
    row &&
    (row.metadata !== null && isTooDeep(row.metadata) ? responseObject(row.metadata) : parsed(row.metadata))
  );
}

interface Row {
  readonly id: string;
  readonly status: RunStatus | null;
  readonly metadata: string | null;
}

/**
 * Changes the metadata of a run, its parent and its root (a run without them is its own). An ended run keeps its metadata: 422 for the run
 * itself; for the others the change is ignored. If another attempt owns the run, it also keeps its metadata: 409. Secrets of the
 * environment are removed.
 */
export async function changeMetadata(
  { sql, clock, changes, paths }: Engine,
  env: number,
  run: string,
  change: MetadataChange,
  redact?: Redactor,
): Promise<Metadata> {
  for (const list of ['operations', 'parentOperations', 'rootOperations'] as const)
    refuseKeys(change[list], list);
  const at = new Date(clock.now());
  const act = async (tx: Transaction): Promise<Metadata> => {
    const [family] = await tx<{ parent: string; root: string }[]>`
      select coalesce(parent_id, id) as parent, coalesce(root_id, id) as root
        from runs where env = ${env} and id = ${run}`;
    if (!family) return {};
    if (change.fence !== undefined) await holdAttempt(tx, env, run, change.fence, 'its metadata changes are');
    const rows = await tx<Row[]>`
      select id, status, metadata from runs
       where env = ${env} and id = any(${[run, family.parent, family.root]}::text[]) order by id for no key update`;
    const self = rows.find((row) => row.id === run);
    if (!self || (self.status !== null && isFinal(self.status))) {
      throw unprocessable('Cannot update metadata for a completed run', 'run_ended');
    }
    for (const row of rows) {
      if (row.status !== null) continue;
      const operations = [
        ...(row.id === run ? (change.operations ?? []) : []),
        ...(row.id === family.parent ? (change.parentOperations ?? []) : []),
        ...(row.id === family.root ? (change.rootOperations ?? []) : []),
      ];
      const replaced = row.id === run ? change.metadata : undefined;
      if (replaced === undefined && operations.length === 0) continue;
      await write(tx, env, row.id, applyOperations(replaced ?? parsed(row.metadata), operations), at, redact);
      const declared = paths.of(env);
      if (declared) await indexPaths(tx, env, row.id, declared);
    }
    const [row] = await tx<{ metadata: string | null }[]>`
      select metadata from runs where env = ${env} and id = ${run}`;
    return parsed(row?.metadata ?? null);
  };
  // A parent that begins to wait for its children locks them first, and then itself.
  const after = await retryOnConflict(() => sql.begin(act));
  if (change.parentOperations || change.rootOperations) changes.someChanged(env);
  changes.changed(env, [run]);
  return after;
}

/** At the first change, the metadata of the trigger is saved for replays. */
async function write(
  tx: Transaction,
  env: number,
  run: string,
  metadata: Metadata,
  at: Date,
  redact: Redactor | undefined,
): Promise<void> {
  const whole = jsonOfField(metadata, 'metadata');
  const text = redact?.json(whole) ?? whole;
  if (Buffer.byteLength(text) > maxMetadataBytes) {
    throw new Problem(
      'too_large',
      `metadata: must have at most ${maxMetadataBytes} bytes as JSON; it would have ${Buffer.byteLength(text)}.`,
    );
  }
  await tx`
    update runs set metadata = ${text}, seed_metadata = coalesce(seed_metadata, metadata, '{}'), updated_at = ${at}
     where env = ${env} and id = ${run}`;
}

/** Indexes a run's current data, if its environment has declared paths. The run is locked. */
async function indexPaths(
  tx: Transaction,
  env: number,
  run: string,
  declared: readonly RunPath[],
): Promise<void> {
  const [row] = await tx<(Carried & { facets: string[] | null })[]>`
    select metadata, payload, payload_type as "payloadType", path_facets as facets from runs where env = ${env} and id = ${run}`;
  if (!row) return;
  const facets = pathFacets(declared, row);
  const had = row.facets ?? [];
  if (facets.length === had.length && facets.every((facet) => had.includes(facet))) return;
  await tx`
    update runs set path_facets = ${facets.length > 0 ? facets : null}::text[] where env = ${env} and id = ${run}`;
  await recordFacets(
    tx,
    env,
    facets.map((facet) => ({ id: run, facet })),
  );
}

function refuseKeys(operations: readonly MetadataOperation[] = [], list: string): void {
  for (const [index, operation] of operations.entries()) {
    const reason = operation.type === 'update' ? undefined : refusedKey(operation.key);
    if (reason !== undefined) throw badRequest(`${list}[${index}].key: ${reason}.`);
  }
}

/** Triggers may store any text as metadata; a text that is not an object, or could not be written back, counts as no metadata. */
function parsed(text: string | null): Metadata {
  const value = text === null ? undefined : tryParse(text);
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Metadata) : {};
}
