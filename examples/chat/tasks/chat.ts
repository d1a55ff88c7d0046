import { setTimeout as pause } from 'node:timers/promises';
import { sessions, task } from '@millrace/sdk';
import { answerTo } from '../answer.ts';

/** A part of a message, as the page shows it. */
interface Part {
  readonly from: 'you' | 'task';
  readonly text: string;
}

/** How long a run waits for the next message. A later message starts another run, which continues where this one stopped. */
const patienceSeconds = 60;
const thinkMs = 25;

export const chat = task({
  id: 'chat',
  run: async ({ sessionId }: { sessionId: string }) => {
    const session = sessions.open(sessionId);
    for (;;) {
      const message = await session.in.wait<{ text: string }>({ timeoutInSeconds: patienceSeconds });
      if (!message.ok) return;
      const { text } = message.output;
      const out = session.out.writer<Part>();
      await out.write({ from: 'you', text });
      for (const part of answerTo(text)) {
        await out.write({ from: 'task', text: part });
        await pause(thinkMs);
      }
      await out.close();
      await session.out.writeControl('turn-complete');
    }
  },
});
