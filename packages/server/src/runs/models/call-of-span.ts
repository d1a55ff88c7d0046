import type { EndedSpan, SpanAttributes } from '@millrace/contract/runner';

/** A call of a model, as its span reports it. */
export interface ModelCall {
  readonly span: string;
  /** Such as `openai`; `unknown` if the span has none. */
  readonly provider: string;
  /** The model that responded, or the requested one; `unknown` if the span has neither. */
  readonly model: string;
  /** The requested model, if it differs. */
  readonly requested: string | undefined;
  /** All input tokens, including cached ones. */
  readonly input: number;
  readonly cached: number;
  readonly cacheWrite: number;
  readonly output: number;
}

/** A larger number is an error of the instrumentation. */
export const maxTokens = 1_000_000_000;
const maxName = 128;

/** Attributes in the order of precedence: those of OpenTelemetry with their earlier names, and those of the AI SDK 5 and 6 with earlier ones. */
const attributes = {
  input: [
    'gen_ai.usage.input_tokens',
    'gen_ai.usage.prompt_tokens',
    'ai.usage.inputTokens',
    'ai.usage.promptTokens',
    'ai.usage.tokens',
  ],
  cached: [
    'gen_ai.usage.cache_read.input_tokens',
    'gen_ai.usage.cache_read_input_tokens',
    'ai.usage.inputTokenDetails.cacheReadTokens',
    'ai.usage.cachedInputTokens',
  ],
  cacheWrite: [
    'gen_ai.usage.cache_creation.input_tokens',
    'gen_ai.usage.cache_creation_input_tokens',
    'ai.usage.inputTokenDetails.cacheWriteTokens',
  ],
  output: [
    'gen_ai.usage.output_tokens',
    'gen_ai.usage.completion_tokens',
    'ai.usage.outputTokens',
    'ai.usage.completionTokens',
  ],
  response: ['gen_ai.response.model', 'ai.response.model'],
  request: ['gen_ai.request.model', 'ai.model.id'],
  provider: ['gen_ai.provider.name', 'gen_ai.system', 'ai.model.provider'],
} as const;

/** Spans around several calls, which report the sum of the calls below them. */
const sums = new Set(['invoke_agent', 'create_agent', 'invoke_workflow', 'execute_tool']);
/** The operations of the AI SDK that call a model; `ai.generateText` and others are around them. */
const sdkCall = /\.do(?:Generate|Stream|Embed)$/;

/** The call that a span reports; undefined for any other span, and for one without a valid number of tokens. */
export function modelCallOf({ id, attributes: all }: EndedSpan): ModelCall | undefined {
  if (!all) return undefined;
  const input = countIn(all, attributes.input);
  const output = countIn(all, attributes.output);
  if (input === undefined && output === undefined) return undefined;
  const operation = all['ai.operationId'];
  if (typeof operation === 'string' && !sdkCall.test(operation)) return undefined;
  if (sums.has(String(all['gen_ai.operation.name']))) return undefined;
  const cached = countIn(all, attributes.cached) ?? 0;
  const cacheWrite = countIn(all, attributes.cacheWrite) ?? 0;
  const request = nameIn(all, attributes.request);
  const model = nameIn(all, attributes.response) ?? request ?? 'unknown';
  return {
    span: id,
    // The AI SDK names the API too: `openai.responses`.
    provider: nameIn(all, attributes.provider)?.split('.')[0] || 'unknown',
    model,
    requested: request === model ? undefined : request,
    // Some instrumentations report only the input tokens that were not cached.
    input: Math.max(input ?? 0, Math.min(maxTokens, cached + cacheWrite)),
    cached,
    cacheWrite,
    output: output ?? 0,
  };
}

function countIn(all: SpanAttributes, names: readonly string[]): number | undefined {
  for (const name of names) {
    const value = all[name];
    if (typeof value === 'number' && Number.isInteger(value) && value >= 0 && value <= maxTokens)
      return value;
  }
  return undefined;
}

function nameIn(all: SpanAttributes, names: readonly string[]): string | undefined {
  for (const name of names) {
    const value = all[name];
    if (typeof value === 'string' && value.trim() !== '')
      return value.trim().slice(0, maxName).toWellFormed();
  }
  return undefined;
}
