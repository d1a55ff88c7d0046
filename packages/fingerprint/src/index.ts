import { hash } from 'node:crypto';
import { bounds, propertyOf, storable, textOf } from './bounds.ts';
import { causeKeys, writtenCauses } from './causes.ts';
import { familyOf, hasNoOrigin } from './families.ts';
import { codeOf, structuredCauses, type StructuredCause, type ThrownError } from './structured-causes.ts';
import { comparable, normaliseMessage } from './message/message.ts';
import { framesOf, type Frames } from './origin/frames.ts';
import { throwSite } from './origin/site.ts';
import type { FingerprintParts } from './parts.ts';
import { thrownType } from './thrown.ts';
import { typeOf } from './type.ts';
import { reasons } from './why.ts';

export { storable } from './bounds.ts';
export type { ThrownError } from './structured-causes.ts';
export type { FingerprintParts } from './parts.ts';

export interface Fingerprint {
  /** Version of the rules and 32 lowercase hex digits, such as `m2-9b74c9897bac770ffc029102a200c5de`. */
  readonly id: string;
  readonly parts: FingerprintParts;
  /** How each part was determined, in one sentence per part. Computed when it is read. */
  readonly why: readonly string[];
}

/** Part of every id. Rule changes that move errors between groups require a new version. */
const version = 'm2';

/**
 * Computes the same value for errors caused by the same bug, independent of the data, the deployment and the Node version. Pure, never
 * throws, and runs in bounded time for any error.
 *
 * @example
 * const { id, parts } = fingerprint({ name: 'TypeError', message: error.message, stack: error.stack });
 */
export function fingerprint(error: ThrownError): Fingerprint {
  const stack = textOf(propertyOf(error, 'stack'), bounds.stack * 2);
  const raw = textOf(propertyOf(error, 'message'), bounds.message);
  const name = propertyOf(error, 'name');
  const code = codeOf(propertyOf(error, 'code'));
  const type = thrownType(name, raw, stack) ?? typeOf(name, stack);
  const normalised = normaliseMessage(raw);
  const message = normalised || code || type;
  const frames = framesOf(stack, raw);
  const allCauses = causesOf(error, stack);
  const answer = statementAnswer(message, allCauses[0]);
  const causes = answer === undefined ? causeKeys(allCauses, type, message) : [];
  const task = textOf(propertyOf(error, 'taskIdentifier'), bounds.name);
  const site = throwSite(frames.app, type, answer ?? message);
  const family = task === '' ? undefined : familyOf(type, answer ?? message);
  const origin = hasNoOrigin(family, answer ?? message) ? '' : originOf(family, type, task, site, frames);
  const compared = answer === undefined && normalised === '' ? code : comparable(answer ?? message);
  const key = [
    version,
    task,
    // How a command ended is visible only in its code.
    family === 'command' ? `command ${code}` : (family ?? type),
    compared,
    origin,
    ...causes,
  ].join('\u0000');
  const parts = {
    type,
    message: storable(message.slice(0, bounds.displayed)),
    frames: frames.app.slice(0, 3),
    family,
    compared,
    origin,
    causes,
  };
  return {
    id: `${version}-${hash('sha256', key).slice(0, 32)}`,
    parts,
    get why() {
      return reasons(parts, raw, task);
    },
  };
}

/**
 * The ids that earlier versions of the rules assigned to an error, latest first. Groups with one of them continue under the new id. There
 * is only one version so far. A new version adds the function that computed the ids of the previous one.
 */
export const earlierIds = (error: ThrownError): string[] => earlierVersions.map((idOf) => idOf(error));

const earlierVersions: readonly ((error: ThrownError) => string)[] = [];

/** The function of the app. Where versions of Node or of a library show different functions, a stable value is used instead. */
function originOf(
  family: string | undefined,
  type: string,
  task: string,
  site: string,
  { throughFetch, library, module }: Frames,
): string {
  // The caller is lost, so the wait is identified by the module that waited.
  if (family === 'aborted') return module;
  // Only some Node versions show the callers of the built-in fetch. All show that it read the body.
  const known = throughFetch && task !== '' ? (type === 'SyntaxError' ? 'fetch' : '') : site;
  // If no function of the app is on the stack, the origin is the task or, without a task, the library.
  return known === '' && task === '' ? `library ${library}` : known;
}

/** A query builder that wraps a database error quotes the statement. The database error counts; older versions throw it unwrapped. */
function statementAnswer(message: string, cause: StructuredCause | undefined): string | undefined {
  if (cause === undefined || !message.startsWith('Failed query: ')) return undefined;
  return normaliseMessage(cause.message) || undefined;
}

function causesOf(error: ThrownError, stack: string): StructuredCause[] {
  const structured = structuredCauses(error);
  return structured.length === 0 ? writtenCauses(stack) : structured;
}
