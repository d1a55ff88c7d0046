// Words of the API: states and sort orders in lists and filters. Those of runs are in status.ts.

export const errorStatuses = ['unresolved', 'resolved', 'ignored'] as const;
export type ErrorStatus = (typeof errorStatuses)[number];

/** Sort orders of the list, each with the latest or most frequent first. */
export const errorSorts = ['lastSeen', 'count', 'firstSeen'] as const;
export type ErrorSort = (typeof errorSorts)[number];

/**
 * `PENDING` waits for its time; `DELIVERED` triggered runs; `UNMATCHED` was delivered without any subscription to it, or has no name;
 * `CANCELED` will never be delivered; `FAILED` could not be delivered, and `failure` has the reason.
 */
export const eventStatuses = ['PENDING', 'DELIVERED', 'UNMATCHED', 'CANCELED', 'FAILED'] as const;
export type EventStatus = (typeof eventStatuses)[number];

/** `PENDING` is retried; `DELIVERED` received a 2xx response; `FAILED` was abandoned. */
export const deliveryStatuses = ['PENDING', 'DELIVERED', 'FAILED'] as const;
export type DeliveryStatus = (typeof deliveryStatuses)[number];

/** How to handle a tick while an earlier run of the schedule has not ended. */
export const overlapRules = ['allow', 'skip', 'queue', 'cancel'] as const;
export type OverlapRule = (typeof overlapRules)[number];
