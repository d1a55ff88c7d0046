import { hash } from 'node:crypto';
import { bounds, propertyOf, textOf } from '../bounds.ts';
import { framesOf } from '../frames.ts';
import { codeOf, givenCauses, type GivenCause, type ThrownError } from '../given.ts';
import { thrownType } from '../thrown.ts';
import { typeOf } from '../type.ts';
import { causeKeys, writtenCauses } from './causes.ts';
import { familyOf, isPlaceless } from './families.ts';
import { comparable, normaliseMessage } from './message.ts';
import { throwSite } from './site.ts';

/**
 * The fingerprint of version m1, as it was released: groups that bear it go on when today's rules give an error another one. What stands in this
 * folder changes no more, and goes when groups of m1 are 90 days old everywhere.
 */
export function fingerprintOfM1(error: ThrownError): string {
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
    'm1',
    task,
    // How a command ended is only in its code.
    family === 'command' ? `command ${code}` : (family ?? type),
    answer === undefined && normalised === '' ? code : comparable(answer ?? message),
    place,
    ...causes,
  ].join('\u0000');
  return `m1-${hash('sha256', key).slice(0, 32)}`;
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
