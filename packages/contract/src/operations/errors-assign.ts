import { z } from 'zod';
import { operation } from '../operation.ts';
import { errorGroupDetail } from './errors.ts';
import { owner } from './shapes.ts';

/** Maximum number of characters in the note of an error group. */
export const maxErrorNote = 2_000;

/** Maximum number of characters in the address of a ticket. */
const maxTicketUrl = 2_048;

/** Other schemes, such as `javascript:`, would run in the page that shows the link. */
const ticketUrl = z
  .string()
  .max(maxTicketUrl)
  .refine((text) => {
    if (!URL.canParse(text)) return false;
    const { protocol, username, password } = new URL(text);
    return /^https?:$/.test(protocol) && username === '' && password === '';
  }, 'must be an http or https address, such as https://tracker.example.com/PAY-17, without a user and a password')
  .transform((text) => new URL(text).href);

const note = z
  .string()
  .trim()
  .min(1, 'must not be empty; send null to remove the note')
  .max(maxErrorNote)
  .refine((text) => !text.includes('\0'), 'must not contain a NUL character')
  .refine((text) => text.isWellFormed(), 'must not contain an unpaired surrogate');

const shared = {
  tag: 'errors',
  access: { secretKey: true, action: 'write', on: 'errors' },
  params: z.object({ errorId: z.string().min(1) }),
  reply: errorGroupDetail,
  errors: [404],
} as const;

export const assignError = operation({
  id: 'assignError',
  method: 'POST',
  path: '/api/v1/errors/:errorId/assign',
  summary: 'Assign an error group to a member or an owner, or return it to the owner of its task',
  ...shared,
  body: z.object({
    /**
     * The id or the email address of a member of the organization, or the name of an owner such as `@payments`. Null: the owner of the task.
     */
    assignee: owner.nullable(),
  }),
  errors: [404, 422],
});

export const noteError = operation({
  id: 'noteError',
  method: 'POST',
  path: '/api/v1/errors/:errorId/note',
  summary: 'Set or remove the note of an error group',
  ...shared,
  body: z.object({
    /** Null removes it. */
    note: note.nullable(),
  }),
});

export const linkError = operation({
  id: 'linkError',
  method: 'POST',
  path: '/api/v1/errors/:errorId/link',
  summary: 'Link an error group to a ticket, or remove the link',
  ...shared,
  body: z.object({
    /** An http or https address. Null removes the link. */
    ticketUrl: ticketUrl.nullable(),
  }),
});
