import { setTimeout as pause } from 'node:timers/promises';
import { sessions, task } from '@millrace/sdk';
import { z } from 'zod';

const answers: readonly (readonly [RegExp, string])[] = [
  [
    /where|parcel|arriv/i,
    'Your parcel left our warehouse this morning. It should arrive tomorrow before noon.',
  ],
  [
    /return|refund|broken/i,
    'I am sorry to hear that. You can send it back within thirty days, and the label is on its way to you by mail.',
  ],
  [
    /invoice|bill/i,
    'You can find every invoice in your account, below the order. I have sent this one again.',
  ],
];
const otherwise = 'Let me ask a colleague. You will get an answer by email within the next hour.';

export const supportChat = task({
  id: 'support-chat',
  description: 'Answers customers in the chat of the shop',
  schema: z.object({ sessionId: z.string(), customer: z.string() }),
  run: async ({ sessionId }) => {
    const session = sessions.open(sessionId);
    for (;;) {
      const message = await session.in.wait<{ text: string }>({ timeoutInSeconds: 600 });
      if (!message.ok) return { ended: message.error.name };
      await session.out.pipe(inWords(answerTo(message.output.text)));
      await session.out.writeControl('turn-complete');
    }
  },
});

const answerTo = (text: string): string => answers.find(([pattern]) => pattern.test(text))?.[1] ?? otherwise;

/** Streams text like a language model. */
async function* inWords(text: string): AsyncGenerator<{ text: string }> {
  for (const word of text.split(/(?<= )/)) {
    yield { text: word };
    await pause(40);
  }
}
