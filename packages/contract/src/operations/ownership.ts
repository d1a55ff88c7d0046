import { z } from 'zod';

/** How the owner of an error group was determined: an assignment to a member or to an owner, or the task's own owner. */
export const ownershipSources = ['member', 'owner', 'task'] as const;

/** The responsible owner of an error group, with a note and a ticket. */
export const errorOwnership = z.object({
  /**
   * The assigned owner, the email address of the assigned member, or the owner of the task in the current version. Null if there is none, and
   * for public tokens if it is the address of a member.
   */
  owner: z.string().nullable(),
  /** Null without an owner. */
  source: z.enum(ownershipSources).nullable(),
  /** The assigned member. */
  userId: z.string().nullable(),
  /** The address of the ticket. */
  ticketUrl: z.string().nullable(),
  note: z.string().nullable(),
});
export type ErrorOwnership = z.infer<typeof errorOwnership>;

/** As listed: without the note. */
export const listedOwnership = errorOwnership.omit({ note: true });

/** An assignment, a note and a ticket. */
export const ownershipChange = z.object({
  /** The assigned owner. */
  owner: z.string().optional(),
  /** The assigned member. */
  ownerUserId: z.string().optional(),
  note: z.string().optional(),
  ticketUrl: z.string().optional(),
});
export type OwnershipChange = z.infer<typeof ownershipChange>;
