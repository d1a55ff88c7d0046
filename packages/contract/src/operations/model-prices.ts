import { z } from 'zod';
import { operation } from '../operation.ts';
import { date, keyOf } from './shapes.ts';

/** Maximum number of prices that a project can set. */
export const maxModelPrices = 500;

/** US dollars for a million tokens, as a decimal text, so that the amount is exact. */
const dollars = z
  .string()
  .regex(
    /^\d{1,5}(\.\d{1,6})?$/,
    'must be a decimal number of US dollars for a million tokens as text, such as "2.50", below 100000 and with at most 6 decimals',
  );

/** The name of a model, exactly as in the spans. A final `*` stands for any rest, such as a date. */
const model = keyOf(128)
  .min(1)
  .refine((text) => !text.slice(0, -1).includes('*'), '`*` is only allowed at the end')
  .refine((text) => text.trim() === text, 'must not begin or end with a space');

export const modelPrice = z.object({
  model: z.string(),
  input: z.string(),
  /** For input tokens that the provider read from its cache, or wrote to it; null: as `input`. */
  cachedInput: z.string().nullable(),
  cacheWrite: z.string().nullable(),
  output: z.string(),
  /** Whether the price is a default of the release. */
  isDefault: z.boolean(),
  /** Null for a default. */
  updatedAt: date.nullable(),
});
export type ModelPrice = z.infer<typeof modelPrice>;

const inProject = z.object({ projectRef: z.string().min(1).max(128) });
const path = '/api/v1/projects/:projectRef/model-prices';

export const listModelPrices = operation({
  id: 'listModelPrices',
  method: 'GET',
  path,
  tag: 'projects',
  summary: "List a project's prices of language models, then the default prices",
  access: { personalAccessToken: true, role: 'viewer' },
  params: inProject,
  reply: z.object({
    data: z.array(modelPrice),
    /** The month of the default prices, such as `2025-10`. */
    defaultsFrom: z.string(),
  }),
  errors: [404],
});

export const setModelPrice = operation({
  id: 'setModelPrice',
  method: 'PUT',
  path,
  tag: 'projects',
  summary: 'Set the price of a language model for later calls',
  access: { personalAccessToken: true, role: 'member' },
  params: inProject,
  body: z.object({
    model,
    input: dollars,
    cachedInput: dollars.nullable().default(null),
    cacheWrite: dollars.nullable().default(null),
    output: dollars,
  }),
  reply: modelPrice,
  errors: [404, 422],
});

export const deleteModelPrice = operation({
  id: 'deleteModelPrice',
  method: 'DELETE',
  path: `${path}/:model`,
  tag: 'projects',
  summary: "Delete a project's price of a language model; a default price applies again",
  access: { personalAccessToken: true, role: 'member' },
  params: inProject.extend({ model: z.string().min(1).max(128) }),
  reply: z.object({ model: z.string() }),
  errors: [404],
});
