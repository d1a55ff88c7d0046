import type { Method, OperationDeclaration } from '../operation.ts';
import * as alerts from './alerts.ts';
import * as audit from './audit.ts';
import * as auth from './auth.ts';
import * as batches from './batches.ts';
import * as branches from './branches.ts';
import * as browserSessions from './browser-sessions.ts';
import * as bulk from './bulk.ts';
import * as bundles from './bundles.ts';
import * as channels from './channels.ts';
import * as charts from './charts.ts';
import * as deployments from './deployments.ts';
import * as deploymentsCompare from './deployments-compare.ts';
import * as doctor from './doctor.ts';
import * as environmentsPause from './environments-pause.ts';
import * as envvars from './envvars.ts';
import * as erasures from './erasures.ts';
import * as errorRules from './error-rules.ts';
import * as errors from './errors.ts';
import * as errorsVersions from './errors-versions.ts';
import * as errorsAssign from './errors-assign.ts';
import * as events from './events.ts';
import * as inputStreams from './input-streams.ts';
import * as installation from './installation.ts';
import * as keys from './keys.ts';
import * as login from './login.ts';
import * as logs from './logs.ts';
import * as logsFollow from './logs-follow.ts';
import * as models from './models.ts';
import * as modelPrices from './model-prices.ts';
import * as notifications from './notifications.ts';
import * as organizations from './organizations.ts';
import * as outbox from './outbox.ts';
import * as packets from './packets.ts';
import * as projects from './projects.ts';
import * as queues from './queues.ts';
import * as realtime from './realtime.ts';
import * as realtimeFollow from './realtime-follow.ts';
import * as runPaths from './run-paths.ts';
import * as runArchive from './run-archive.ts';
import * as runners from './runners.ts';
import * as runs from './runs.ts';
import * as runsAttempts from './runs-attempts.ts';
import * as runsCancel from './runs-cancel.ts';
import * as runsChange from './runs-change.ts';
import * as runsList from './runs-list.ts';
import * as runsOutcome from './runs-outcome.ts';
import * as runsReason from './runs-reason.ts';
import * as runsSteps from './runs-steps.ts';
import * as runsTimeline from './runs-timeline.ts';
import * as schedules from './schedules.ts';
import * as sessions from './sessions.ts';
import * as sources from './sources.ts';
import * as spans from './spans.ts';
import * as stats from './stats.ts';
import * as storage from './storage.ts';
import * as streams from './streams.ts';
import * as tasks from './tasks.ts';
import * as tasksList from './tasks-list.ts';
import * as versions from './versions.ts';
import * as waitpoints from './waitpoints.ts';
import * as webhooks from './webhooks.ts';

/** The files that declare operations, in the order of the API documentation. Every exported operation is served. */
const concepts = {
  tasks,
  outbox,
  tasksList,
  batches,
  runs,
  runsCancel,
  logs,
  logsFollow,
  spans,
  runPaths,
  runsList,
  runsChange,
  runsOutcome,
  runsReason,
  stats,
  charts,
  models,
  modelPrices,
  runsAttempts,
  runsSteps,
  runsTimeline,
  realtime,
  realtimeFollow,
  streams,
  inputStreams,
  packets,
  bulk,
  erasures,
  runArchive,
  queues,
  waitpoints,
  errors,
  errorsVersions,
  errorsAssign,
  errorRules,
  schedules,
  events,
  webhooks,
  sessions,
  channels,
  notifications,
  alerts,
  envvars,
  versions,
  bundles,
  deployments,
  deploymentsCompare,
  sources,
  runners,
  auth,
  login,
  browserSessions,
  keys,
  projects,
  environmentsPause,
  branches,
  organizations,
  audit,
  installation,
  storage,
  doctor,
};
type Concepts = typeof concepts;

/** A file that declares operations, such as `queues`. */
export type Concept = keyof Concepts;

type NameIn<Exports> = {
  [Name in keyof Exports]: Exports[Name] extends Pick<OperationDeclaration, 'id' | 'method' | 'path'>
    ? Name
    : never;
}[keyof Exports];
type DeclaredIn<C extends Concept> = Pick<Concepts[C], NameIn<Concepts[C]>>;
type AllOf<Union> = (Union extends unknown ? (member: Union) => void : never) extends (all: infer All) => void
  ? All
  : never;
type Declared = AllOf<{ [C in Concept]: DeclaredIn<C> }[Concept]>;

/** Every operation of the API, by its id. */
export type Operations = { readonly [Name in keyof Declared]: Declared[Name] };

/**
 * The operations of some concepts, handled by one part of the server.
 *
 * @example
 * type Handlers = HandlersOf<OperationsOf<'queues' | 'environmentsPause'>>;
 */
export type OperationsOf<C extends Concept> = AllOf<C extends unknown ? DeclaredIn<C> : never>;

const methods: readonly Method[] = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE'];

const isOperation = (exported: unknown): exported is OperationDeclaration =>
  typeof exported === 'object' && exported !== null && 'access' in exported && 'id' in exported;

/** Module exports are ordered by name; this orders them by path and method, as in the documentation. */
function declaredIn(exports: Readonly<Record<string, unknown>>): [id: string, OperationDeclaration][] {
  const rank = ({ path, method }: OperationDeclaration) => `${path} ${methods.indexOf(method)}`;
  return Object.values(exports)
    .filter(isOperation)
    .map((declaration): [string, OperationDeclaration] => [rank(declaration), declaration])
    .toSorted(([first], [second]) => (first < second ? -1 : 1))
    .map(([, declaration]) => [declaration.id, declaration]);
}

/** Every operation of the API. The server refuses to start when one of them has no handler. */
export const operations: Operations = /* @__PURE__ */ Object.fromEntries(
  /* @__PURE__ */ Object.values(concepts).flatMap((exports) => declaredIn(exports)),
) as unknown as Operations;
