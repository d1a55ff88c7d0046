// Words of the API: states and orders that lists and filters name. Those of runs are in status.ts.

export const errorStatuses = ['unresolved', 'resolved', 'ignored'] as const;
export type ErrorStatus = (typeof errorStatuses)[number];

/** Orders of the list, each with the latest or the most first. */
export const errorSorts = ['lastSeen', 'count', 'firstSeen'] as const;
export type ErrorSort = (typeof errorSorts)[number];

/**
 * `PENDING` waits for its time; `DELIVERED` started runs; `UNMATCHED` was delivered when nothing was subscribed to it, or has no name;
 * `CANCELED` never will be; `FAILED` could not be, and `failure` says why.
 */
export const eventStatuses = ['PENDING', 'DELIVERED', 'UNMATCHED', 'CANCELED', 'FAILED'] as const;
export type EventStatus = (typeof eventStatuses)[number];

/** `PENDING` is tried again; `DELIVERED` was answered with a 2xx; `FAILED` was given up. */
export const deliveryStatuses = ['PENDING', 'DELIVERED', 'FAILED'] as const;
export type DeliveryStatus = (typeof deliveryStatuses)[number];

/** What happens to a tick while an earlier run of the schedule is not over. */
export const overlapRules = ['allow', 'skip', 'queue', 'cancel'] as const;
export type OverlapRule = (typeof overlapRules)[number];
