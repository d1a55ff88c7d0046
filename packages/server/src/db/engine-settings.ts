/**
 * Settings of the sessions that trigger, claim and settle. Their statements are few and of one shape each, whatever their values: planning
 * them again for each call would be a third of their cost.
 */
export const engineSettings = {
  plan_cache_mode: 'force_generic_plan',
  jit: 'off',
  // Each row is read by its key. No plan may read a whole table because statistics say it is empty (sql/schema/0005_runs.sql).
  enable_hashjoin: 'off',
  enable_mergejoin: 'off',
  enable_seqscan: 'off',
  enable_bitmapscan: 'off',
} as const;
