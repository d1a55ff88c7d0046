import { createAnthropic } from '@ai-sdk/anthropic';

export default async () => createAnthropic({ apiKey: 'none' })('claude-sonnet-4-5').modelId;
