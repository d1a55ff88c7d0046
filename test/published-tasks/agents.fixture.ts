import {
  ChatChunkTooLargeError,
  isChatChunkTooLargeError,
  metadata,
  SessionHandle,
  SessionInputChannel,
  SessionOutputChannel,
  sessions,
  task,
} from '@trigger.dev/sdk';
import { chat } from '@trigger.dev/sdk/ai';
import { stepCountIs, streamText, tool, type ModelMessage } from 'ai';
import { MockLanguageModelV2, simulateReadableStream } from 'ai/test';
import { z } from 'zod';

const usage = { inputTokens: 1, outputTokens: 1, totalTokens: 2 };
const finished = { type: 'finish', finishReason: 'stop', usage } as const;

/** Streams these words one by one. */
const saying = (words: readonly string[], chunkDelayInMs: number | null = null) => ({
  stream: simulateReadableStream({
    chunkDelayInMs,
    chunks: [
      { type: 'stream-start', warnings: [] },
      { type: 'text-start', id: '1' },
      ...words.map((delta) => ({ type: 'text-delta', id: '1', delta }) as const),
      { type: 'text-end', id: '1' },
      finished,
    ],
  }) as never,
});

interface Prompt {
  readonly prompt: readonly { readonly role: string; readonly content: unknown }[];
}

const textOf = (content: unknown): string =>
  (content as readonly { readonly text?: string }[]).map(({ text = '' }) => text).join('');

/** The number of user messages, and the text of the last one. */
const summaryOf = ({ prompt }: Prompt): string => {
  const users = prompt.filter(({ role }) => role === 'user');
  return `${users.length}: ${textOf(users.at(-1)?.content)}`;
};

const parrotModel = new MockLanguageModelV2({
  doStream: async (options) => saying(summaryOf(options).split(/(?<= )/)),
});

const slowModel = new MockLanguageModelV2({
  doStream: async (options) => {
    const text = summaryOf(options);
    return text.endsWith('go') ? saying(Array<string>(200).fill('word '), 100) : saying([text]);
  },
});

interface Turn {
  readonly messages: ModelMessage[];
  readonly signal: AbortSignal;
}

export const parrot = chat.agent({
  id: 'parrot',
  idleTimeoutInSeconds: 1,
  preloadIdleTimeoutInSeconds: 1,
  run: async ({ messages, signal }: Turn) =>
    streamText({ model: parrotModel, messages, abortSignal: signal }),
});

export const slowParrot = chat.agent({
  id: 'slow-parrot',
  run: async ({ messages, signal }: Turn) => streamText({ model: slowModel, messages, abortSignal: signal }),
});

export const price = task({ id: 'price', run: async () => 42 });

const shopModel = new MockLanguageModelV2({
  doStream: async ({ prompt }) => {
    const results = (prompt as Prompt['prompt']).filter(({ role }) => role === 'tool');
    if (results.length > 0) {
      const found = JSON.stringify(results).includes('42') ? '42' : 'nothing';
      return saying([`It costs ${found}.`]);
    }
    return {
      stream: simulateReadableStream({
        chunks: [
          { type: 'stream-start', warnings: [] },
          { type: 'tool-call', toolCallId: 'call-1', toolName: 'price', input: '{}' },
          { type: 'finish', finishReason: 'tool-calls', usage },
        ],
      }) as never,
    };
  },
});

export const shop = chat.agent({
  id: 'shop',
  run: async ({ messages, signal }: Turn) =>
    streamText({
      model: shopModel,
      messages,
      abortSignal: signal,
      stopWhen: stepCountIs(3),
      tools: {
        price: tool({
          inputSchema: z.object({}),
          execute: async () => price.triggerAndWait(undefined).unwrap(),
        }),
      },
    }),
});

export const adds = task({
  id: 'adds',
  run: async ({ externalId }: { externalId: string }) => {
    const session = sessions.open(externalId);
    let sum = 0;
    while (sum < 42) {
      const { n } = await session.in.wait<{ n: number }>({ timeout: '1h' }).unwrap();
      sum += n;
      metadata.set('sum', sum);
    }
    const late = await session.in.wait({ timeout: '1s' });
    await session.out.append({ sum });
    return { sum, late: late.ok, peeked: session.in.peek() ?? null };
  },
});

export const listens = task({
  id: 'listens',
  run: async ({ externalId }: { externalId: string }) => {
    const session = sessions.open(externalId);
    const kinds: string[] = [];
    session.in.on((message) => void kinds.push((message as { kind: string }).kind));
    while (!kinds.includes('end')) {
      const next = await session.in.once<{ kind: string }>({ timeoutMs: 20_000 });
      if (!next.ok) throw new Error('Nothing was heard.');
    }
    return kinds;
  },
});

export const sizes = task({
  id: 'sizes',
  run: async ({ externalId }: { externalId: string }) => {
    const session = sessions.open(externalId);
    const error = await session.out.append('x'.repeat(1_100_000)).catch((thrown: unknown) => thrown);
    return [
      session instanceof SessionHandle,
      session.in instanceof SessionInputChannel,
      session.out instanceof SessionOutputChannel,
      error instanceof ChatChunkTooLargeError && isChatChunkTooLargeError(error),
    ];
  },
});
