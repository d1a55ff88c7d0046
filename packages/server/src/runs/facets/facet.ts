/**
 * The kinds of facets in `run_facets`, and the value of each:
 *
 * - `own_queue_task`: the task of a run in the task's own queue, task/<task>
 * - `other_queue_task`, `queue`: the task and queue id of a run in another queue
 * - `version`: the id of the version that the run is bound to
 * - `tag`, `machine`, `region`, `schedule` (its id), `test` (always `true`)
 * - `status`: the status that the run ended with
 * - `task_status`: the same for one task, `<status>:<task>`; not for COMPLETED
 * - `path`: the value at a declared path, as in `path-facets.ts`
 * - `error`: the id of the fingerprint that the run failed with; written when its error is counted
 */
export const facetKinds = [
  'own_queue_task',
  'other_queue_task',
  'queue',
  'version',
  'tag',
  'machine',
  'region',
  'schedule',
  'test',
  'status',
  'task_status',
  'path',
  'error',
] as const;

export type FacetKind = (typeof facetKinds)[number];

/** A facet as in `run_facets`. SQL has the function `facet_of` for the same. */
export const facet = (kind: FacetKind, value: string | number): string => `${kind}:${value}`;
