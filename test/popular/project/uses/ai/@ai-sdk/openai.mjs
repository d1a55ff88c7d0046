import { createOpenAI } from '@ai-sdk/openai';

export default async () => createOpenAI({ apiKey: 'none' })('gpt-4o').modelId;
