import { setTimeout as pause } from 'node:timers/promises';
import { sessions, tasks, wait } from '@millrace/sdk';
import { customers } from '../catalogue.ts';
import type { Shop } from '../shop.ts';

const reasons = ['Arrived damaged', 'Wrong colour', 'Does not fit on the balcony', 'Ordered twice'];

/** A refund that requires approval. */
export const largeRefund = ({ random, nextOrder }: Shop) => {
  const captured = random.whole(60, 400);
  const { name, email } = random.pick(customers);
  return {
    orderId: nextOrder(),
    chargeId: `ch_${random.whole(100_000, 999_999)}`,
    captured,
    amount: captured,
    reason: random.pick(reasons),
    to: { name, email },
  };
};

/** An order that looks like fraud. */
export const suspiciousOrder = ({ random, nextOrder }: Shop) => ({
  orderId: nextOrder(),
  score: random.whole(71, 98),
  signals: ['new account', random.pick(['three cards', 'address abroad', 'night order'])],
});

/** Refunds and orders that wait for a decision, and one of each that has been decided. */
export async function askPeople(shop: Shop): Promise<void> {
  const approved = largeRefund(shop);
  const fraud = suspiciousOrder(shop);
  await tasks.trigger('refund', approved, { tags: ['refund'] });
  await tasks.trigger('fraud-review', fraud, { tags: ['fraud'] });
  for (let count = 4; count > 0; count--)
    await tasks.trigger('refund', largeRefund(shop), { tags: ['refund'] });
  for (let count = 3; count > 0; count--)
    await tasks.trigger('fraud-review', suspiciousOrder(shop), { tags: ['fraud'] });
  await decide(approved.orderId, { approved: true, by: 'Ines Duarte' });
  await decide(fraud.orderId, { fraud: true });
}

const decideMs = 60_000;

/** Completes the token of an order, once its run has created it. */
async function decide(orderId: string, data: unknown): Promise<void> {
  for (const deadline = performance.now() + decideMs; performance.now() < deadline; await pause(150)) {
    const { data: tokens } = await wait.listTokens({ tags: `order:${orderId}`, status: 'WAITING' });
    if (tokens[0]) {
      await wait.completeToken(tokens[0], data);
      return;
    }
  }
  throw new Error(`The run of ${orderId} did not request an approval within ${decideMs / 1_000} s.`);
}

export const questions = [
  'Where is my parcel?',
  'I would like to return the lamp.',
  'Can I have the invoice again?',
  'Do you sell this in green?',
];

/** Starts the chat of a customer, with a question. */
export async function startChat({ random }: Shop, externalId: string): Promise<void> {
  const { name, id } = random.pick(customers);
  await sessions.start({
    type: 'chat',
    externalId,
    taskIdentifier: 'support-chat',
    triggerConfig: { basePayload: { customer: name }, tags: [`customer:${id}`] },
    tags: [`customer:${id}`],
    metadata: { customer: name },
  });
  await sessions.open(externalId).in.send({ text: random.pick(questions) });
}

/** Chats, one of which has ended. */
export async function startChats(shop: Shop): Promise<void> {
  for (let number = 1; number <= 5; number++) await startChat(shop, `chat-${number}`);
  await sessions.open('chat-2').in.send({ text: 'Thank you. And where is it now?' });
  await answered('chat-5');
  await sessions.close('chat-5', { reason: 'The customer has left' });
}

/** Reads a chat until the task has replied. */
async function answered(session: string): Promise<void> {
  const end = new AbortController();
  const onControl = ({ subtype }: { readonly subtype: string }): void => {
    if (subtype === 'turn-complete') end.abort();
  };
  const options = { onControl, signal: end.signal, timeoutInSeconds: 20 };
  for await (const _ of sessions.open(session).out.read(options)) if (end.signal.aborted) return;
}
