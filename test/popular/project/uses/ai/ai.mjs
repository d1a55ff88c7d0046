import { generateText } from 'ai';
import { MockLanguageModelV3 } from 'ai/test';

export default async () => {
  const usage = { inputTokens: { total: 1 }, outputTokens: { total: 1 } };
  const model = new MockLanguageModelV3({
    doGenerate: async () => ({
      finishReason: { unified: 'stop' },
      usage,
      content: [{ type: 'text', text: 'Hello' }],
      warnings: [],
    }),
  });
  return (await generateText({ model, prompt: 'Hi' })).text;
};
