import { currentClient } from '../client/current-client.ts';
import { errorId, fromWire, type ErrorGroupDetail, type ErrorReference } from './error-group.ts';

/**
 * Assigns an error group to a member of the organization (id or email address) or to an owner such as `@payments`, and returns it. Null returns it
 * to the owner of its task. Throws a NotFoundError for an unknown group, and an UnprocessableEntityError for a person who is not a member.
 *
 * @example
 * await errors.assign('error_0123456789abcdef', 'ana@example.com');
 */
export async function assign(error: ErrorReference, assignee: string | null): Promise<ErrorGroupDetail> {
  const params = { errorId: errorId(error) };
  return fromWire(await currentClient().call('assignError', { params, body: { assignee } }));
}

/**
 * Sets the note of an error group, of 1 to 2,000 characters, and returns the group. Null removes the note. Throws a NotFoundError for an unknown
 * group, and a BadRequestError for an invalid note.
 *
 * @example
 * await errors.note('error_0123456789abcdef', 'The bank confirmed the outage.');
 */
export async function note(error: ErrorReference, text: string | null): Promise<ErrorGroupDetail> {
  const params = { errorId: errorId(error) };
  return fromWire(await currentClient().call('noteError', { params, body: { note: text } }));
}

/**
 * Links an error group to a ticket and returns the group. Null removes the link. Throws a NotFoundError for an unknown group, and a
 * BadRequestError for an address that is not http or https.
 *
 * @example
 * await errors.link('error_0123456789abcdef', 'https://tracker.example.com/PAY-17');
 */
export async function link(error: ErrorReference, ticketUrl: string | null): Promise<ErrorGroupDetail> {
  const params = { errorId: errorId(error) };
  return fromWire(await currentClient().call('linkError', { params, body: { ticketUrl } }));
}
