import { hash } from 'node:crypto';
import { bounds, propertyOf, storable, textOf } from './bounds.ts';
import { causeKeys, writtenCauses } from './causes.ts';
import { framesOf, type Frames } from './frames.ts';
import { codeOf, givenCauses, type GivenCause, type ThrownError } from './given.ts';
import { comparable, normaliseMessage } from './message.ts';
import { familyOf, isPlaceless } from './families.ts';
import { throwSite } from './site.ts';
import { thrownType } from './thrown.ts';
import { typeOf } from './type.ts';

export type { ThrownError } from './given.ts';

export interface Fingerprint {
  /** Version prefix and 32 lowercase hex digits. */
  fingerprint: string;
  /** The class shown as `errorType`; never empty. */
  type: string;
  /** The normalised message shown as `errorMessage`; never empty, at most 500 characters, storable by PostgreSQL. */
  message: string;
  /** The functions of the app that the error was thrown through, innermost first, at most three. */
  frames: string[];
}

/** Goes into every fingerprint: a change of the rules that moves errors between groups needs another one. */
export const fingerprintVersion = 'm2';

/** What makes two errors the same bug, whatever the data, the deploy and the Node version. Pure; never throws. */
export function fingerprintOf(error: ThrownError): Fingerprint {
  const stack = textOf(propertyOf(error, 'stack'), bounds.stack * 2);
  const raw = textOf(propertyOf(error, 'message'), bounds.message);
  const name = propertyOf(error, 'name');
  const code = codeOf(propertyOf(error, 'code'));
  const type = thrownType(name, raw, stack) ?? typeOf(name, stack);
  const normalised = normaliseMessage(raw);
  const message = normalised || code || type;
  const frames = framesOf(stack, raw);
  const given = causesOf(error, stack);
  const answer = statementAnswer(message, given[0]);
  const causes = answer === undefined ? causeKeys(given, type, message) : [];
  const task = textOf(propertyOf(error, 'taskIdentifier'), bounds.name);
  const site = throwSite(frames.app, type, answer ?? message);
  const family = task === '' ? undefined : familyOf(type, answer ?? message);
  const place = isPlaceless(family, answer ?? message) ? '' : placeOf(family, type, task, site, frames);
  const key = [
    fingerprintVersion,
    task,
    // How a command ended is only in its code.
    family === 'command' ? `command ${code}` : (family ?? type),
    answer === undefined && normalised === '' ? code : comparable(answer ?? message),
    place,
    ...causes,
  ].join('\u0000');
  return {
    fingerprint: `${fingerprintVersion}-${hash('sha256', key).slice(0, 32)}`,
    type,
    message: storable(message.slice(0, bounds.shown)),
    frames: frames.app.slice(0, 3),
  };
}

/** The function of the app, or what of Node or of a library is known for certain where no version shows the app's functions alike. */
function placeOf(
  family: string | undefined,
  type: string,
  task: string,
  site: string,
  { throughFetch, library, module }: Frames,
): string {
  // Who waited is lost; what was waited with says which wait it was.
  if (family === 'aborted') return module;
  // Which functions called Node's own fetch only some versions of Node show; that it read the body, all.
  const known = throughFetch && task !== '' ? (type === 'SyntaxError' ? 'fetch' : '') : site;
  // With nothing of the app on the stack, the task is the place; without a task, the library is.
  return known === '' && task === '' ? `library ${library}` : known;
}

/** A query builder that wraps what the database answered quotes the statement: the answer is the error, and older versions throw it bare. */
function statementAnswer(message: string, cause: GivenCause | undefined): string | undefined {
  if (cause === undefined || !message.startsWith('Failed query: ')) return undefined;
  return normaliseMessage(cause.message) || undefined;
}

function causesOf(error: ThrownError, stack: string): GivenCause[] {
  const given = givenCauses(error);
  return given.length === 0 ? writtenCauses(stack) : given;
}

/** The public id of an error group: a hash of its whole key, so that two tasks never share one. */
export function errorGroupId(environmentId: string, taskIdentifier: string, fingerprint: string): string {
  const key = JSON.stringify([environmentId, taskIdentifier, fingerprint]);
  return `error_${hash('sha256', key).slice(0, 16)}`;
}
