import { z } from 'zod';
import { operation } from '../operation.ts';
import { runId } from './runs.ts';
import { date, instant, keyOf, period, tag } from './shapes.ts';

/** The dimensions by which usage can be divided. */
export const modelDivisions = ['task', 'model', 'tag'] as const;
export type ModelDivision = (typeof modelDivisions)[number];

const count = z.number().int();

/** Calls of language models, with their tokens and cost. */
export const modelUsage = z.object({
  calls: count,
  /** Calls of models without a price. Their tokens are included, but not in `cost`. */
  unpricedCalls: count,
  /** All input tokens, including cached ones. */
  inputTokens: count,
  /** Input tokens that the provider read from its cache. */
  cachedInputTokens: count,
  /** Input tokens that the provider wrote to its cache. */
  cacheWriteTokens: count,
  outputTokens: count,
  /** US dollars as an exact decimal number, such as `0.0123`. */
  cost: z.string(),
});
export type ModelUsage = z.infer<typeof modelUsage>;

/** The usage of one model. */
export const usageOfModel = modelUsage.extend({
  /** Such as `openai`; `unknown` if the spans have none. */
  provider: z.string(),
  model: z.string(),
});
export type UsageOfModel = z.infer<typeof usageOfModel>;

export const retrieveRunModels = operation({
  id: 'retrieveRunModels',
  method: 'GET',
  path: '/api/v1/runs/:runId/models',
  tag: 'runs',
  summary: 'Retrieve the calls of language models by a run, with tokens and cost by model',
  access: { secretKey: true, publicToken: true, action: 'read', on: 'runs', objects: true },
  params: runId,
  reply: z.object({
    total: modelUsage,
    /** By model, most expensive first. */
    models: z.array(usageOfModel),
  }),
  errors: [404],
});

export const retrieveModelUsage = operation({
  id: 'retrieveModelUsage',
  method: 'GET',
  path: '/api/v1/models/usage',
  tag: 'runs',
  summary: 'Retrieve the tokens and cost of language models by day, model, task or tag',
  access: { secretKey: true, action: 'read', on: 'runs' },
  query: z.object({
    /** A range up to now; takes precedence over `from` and `to`. Default `30d`. The range begins and ends with a UTC day. */
    period: period.optional(),
    from: instant.optional(),
    to: instant.optional(),
    /** Only the runs of one task. */
    task: keyOf(128).min(1).optional(),
    /** Only runs with this tag, for as long as they are retained. */
    tag: tag.min(1).optional(),
    /** Only one model. */
    model: keyOf(128).min(1).optional(),
    /** One group for each of the most expensive tasks, models or tags. A run with two tags counts in both groups. */
    by: z.enum(modelDivisions).optional(),
    /** Maximum number of groups. */
    limit: z.coerce.number().int().min(1).max(100).default(20),
  }),
  reply: z.object({
    from: date,
    to: date,
    total: modelUsage,
    /** One for each UTC day, oldest first, including empty ones. */
    days: z.array(modelUsage.extend({ at: date })),
    /** Empty without `by`. */
    groups: z.array(modelUsage.extend({ name: z.string() })),
    /** Models with calls that had no price when they arrived, at most 100. */
    unpriced: z.array(usageOfModel),
  }),
  errors: [400],
});
export type ModelUsageReport = z.infer<typeof retrieveModelUsage.reply>;
