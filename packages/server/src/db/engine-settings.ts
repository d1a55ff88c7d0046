/**
 * Settings of the sessions that trigger, claim and complete. They send few different statements whose best plan does not depend on the
 * values: planning for each call would be a third of the cost.
 */
export const engineSettings = {
  plan_cache_mode: 'force_generic_plan',
  jit: 'off',
  // Read each row by its key, so that a plan made while a table is empty does not scan it once it has grown.
  enable_hashjoin: 'off',
  enable_mergejoin: 'off',
  enable_seqscan: 'off',
  enable_bitmapscan: 'off',
} as const;
