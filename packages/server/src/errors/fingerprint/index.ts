import { hash } from 'node:crypto';
import { bounds, propertyOf, storable, textOf } from './bounds.ts';
import { causeKeys, writtenCauses } from './causes.ts';
import { framesOf } from './frames.ts';
import { comparable, normaliseMessage } from './message.ts';
import { familyOf, isPlaceless } from './families.ts';
import { throwSite } from './site.ts';
import { thrownType } from './thrown.ts';
import { typeOf } from './type.ts';

/** An error as it reaches the server. Anything may be missing or of another kind than its name promises. */
export interface ThrownError {
  taskIdentifier?: string;
  name?: unknown;
  message?: unknown;
  stack?: unknown;
  code?: unknown;
  causes?: ThrownError[];
}

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
export const fingerprintVersion = 'm1';

/** What makes two errors the same bug, whatever the data, the deploy and the Node version. Pure; never throws. */
export function fingerprintOf(error: ThrownError): Fingerprint {
  const stack = textOf(propertyOf(error, 'stack'), bounds.stack * 2);
  const raw = textOf(propertyOf(error, 'message'), bounds.message);
  const name = propertyOf(error, 'name');
  const code = codeOf(propertyOf(error, 'code'));
  const type = thrownType(name, raw, stack) ?? typeOf(name, stack);
  const normalised = normaliseMessage(raw);
  const message = normalised || code || type;
  const { app, throughFetch, library } = framesOf(stack, raw);
  const given = causesOf(error, stack);
  const answer = statementAnswer(message, given[0]);
  const causes = answer === undefined ? causeKeys(given, type, message) : [];
  const task = textOf(propertyOf(error, 'taskIdentifier'), bounds.name);
  const site = throwSite(app, type, message);
  const family = task === '' ? undefined : familyOf(type, answer ?? message);
  const unplaced = isPlaceless(family, answer ?? message) || (throughFetch && task !== '');
  // With nothing of the app on the stack, the task is the place; without a task, the library is.
  const place = unplaced || (site === '' && task !== '') ? '' : site || `library ${library}`;
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
    frames: app.slice(0, 3),
  };
}

/** A query builder that wraps what the database answered quotes the statement: the answer is the error, and older versions throw it bare. */
function statementAnswer(message: string, cause: GivenCause | undefined): string | undefined {
  if (cause === undefined || !message.startsWith('Failed query: ')) return undefined;
  return normaliseMessage(cause.message) || undefined;
}

function codeOf(code: unknown): string {
  return typeof code === 'string' || typeof code === 'number' ? storable(String(code).slice(0, 80)) : '';
}

function causesOf(error: ThrownError, stack: string): GivenCause[] {
  const given = givenCauses(error);
  return given.length === 0 ? writtenCauses(stack) : given;
}

interface GivenCause {
  name: unknown;
  message: string;
  stack?: string;
  code: string;
}

/** Causes and theirs in one list, each before what caused it, as the text of a stack shows them. */
function givenCauses(error: unknown, found: GivenCause[] = []): GivenCause[] {
  const given = propertyOf(error, 'causes');
  if (!Array.isArray(given)) return found;
  for (const cause of given.slice(0, bounds.causes) as unknown[]) {
    if (found.length >= bounds.causes) break;
    found.push({
      name: propertyOf(cause, 'name'),
      message: textOf(propertyOf(cause, 'message'), bounds.message),
      code: codeOf(propertyOf(cause, 'code')),
      stack: textOf(propertyOf(cause, 'stack'), bounds.line),
    });
    givenCauses(cause, found);
  }
  return found;
}

/** The public id of an error group: a hash of its whole key, so that two tasks never share one. */
export function errorGroupId(environmentId: string, taskIdentifier: string, fingerprint: string): string {
  const key = JSON.stringify([environmentId, taskIdentifier, fingerprint]);
  return `error_${hash('sha256', key).slice(0, 16)}`;
}
