import { setTimeout as pause } from 'node:timers/promises';
import { events, sessions, tasks, wait } from '@millrace/sdk';
import { customers } from './catalogue.ts';
import { incidents } from './incidents.ts';
import { orderOf } from './orders.ts';
import { largeRefund, questions, startChat, suspiciousOrder } from './seed/people.ts';
import { feedOf } from './seed/queues.ts';
import type { Shop } from './shop.ts';

const minute = 60_000;
/** The share of orders that are an incident. */
const incidentShare = 0.15;
/** Maximum number of pending tokens and open chats. */
const maxOpen = 8;
const repeated = incidents.filter(({ releases = [3], isRare }) => releases.includes(3) && !isRare);

/** Occasional events, each with the number of orders between two of them. */
const besides: readonly (readonly [number, (shop: Shop, count: number) => Promise<unknown>])[] = [
  [3, register],
  [5, ask],
  [7, chat],
  [11, importFeed],
  [13, decide],
];

/**
 * Keeps the shop active until the signal is aborted, with this many orders per minute and other events along with them. Requests are
 * skipped while the server is busy or unavailable.
 */
export async function keepMoving(
  shop: Shop,
  ordersPerMinute: number,
  signal: AbortSignal,
  onProblem: (error: Error) => void,
): Promise<void> {
  const aborted = { signal } as const;
  for (let count = 1; !signal.aborted; count++) {
    // Between half and one and a half times the mean.
    const delay = (minute / ordersPerMinute) * (0.5 + shop.random.whole(0, 100) / 100);
    await pause(delay, undefined, aborted).catch(() => {});
    if (signal.aborted) return;
    try {
      await order(shop);
      for (const [every, act] of besides) if (count % every === 0) await act(shop, count);
    } catch (error) {
      if (!signal.aborted) onProblem(error as Error);
    }
  }
}

async function order({ random, nextOrder }: Shop): Promise<void> {
  const incident = random.chance(incidentShare) ? random.pick(repeated) : undefined;
  const orderId = nextOrder();
  const payload = incident ? incident.payload(random, orderId) : orderOf(random, orderId);
  const tags = [`channel:${random.pick(['web', 'app', 'marketplace'])}`];
  await tasks.trigger(incident?.task ?? 'checkout', payload, { tags });
}

async function register({ random }: Shop): Promise<void> {
  const { name, email } = random.pick(customers);
  const id = `cus_${random.whole(3_000, 999_999)}`;
  const payload = { id, name, email, voucher: `HELLO${random.whole(10, 99)}` };
  await events.send({ id: `registered-${id}`, name: 'customer.registered', source: 'accounts', payload });
}

async function ask(shop: Shop): Promise<void> {
  const isRefund = shop.random.chance(0.5);
  if (isRefund) await tasks.trigger('refund', largeRefund(shop), { tags: ['refund'] });
  else await tasks.trigger('fraud-review', suspiciousOrder(shop), { tags: ['fraud'] });
}

/** Asks a question in one of the open chats; occasionally a new chat is opened and the oldest is ended. */
async function chat(shop: Shop, count: number): Promise<void> {
  const { data: open } = await sessions.list({ status: 'ACTIVE', limit: 100 });
  const oldest = open.at(-1);
  if (oldest && open.length > maxOpen) await sessions.close(oldest, { reason: 'The customer has left' });
  if (open.length === 0 || count % 3 === 0) await startChat(shop, `chat-${Date.now()}`);
  else await sessions.open(shop.random.pick(open)).in.send({ text: shop.random.pick(questions) });
}

async function importFeed({ random }: Shop): Promise<void> {
  const supplier = random.pick(['Nordlicht', 'Atelier Lyon', 'Kyoto Ceramics']);
  await tasks.trigger('import-products', feedOf(supplier), { tags: [`supplier:${supplier}`] });
}

/** Decides the oldest item that waits for a person. */
async function decide({ random }: Shop): Promise<void> {
  const { data: waiting } = await wait.listTokens({ status: 'WAITING', limit: 100 });
  for (const token of waiting.slice(maxOpen)) {
    const isFraud = token.tags.includes('fraud');
    const data = isFraud
      ? { fraud: random.chance(0.2) }
      : { approved: random.chance(0.8), by: random.pick(['Ines Duarte', 'Tom Becker']) };
    await wait.completeToken(token, data);
  }
}
