/** Limits of admission for servers of tests: on a busy machine, a burst of requests waits longer than the default, and must not be rejected. */
export const patientAdmission = { maxWaitMs: 60_000 };
