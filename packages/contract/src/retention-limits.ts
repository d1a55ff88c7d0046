/** Minimum and maximum retention of runs, in seconds: one hour and about 68 years. */
export const retentionLimits = { min: 3_600, max: 2_147_483_647 } as const;
