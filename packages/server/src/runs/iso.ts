/** Milliseconds since 1970 as the API shows them. */
export const iso = (ms: number): string => new Date(ms).toISOString();
