import { products } from './catalogue.ts';
import { orderOf, type Order } from './orders.ts';
import type { Random } from './random.ts';

/** A failure in the shop that is caused by the payload of a task. */
export interface Incident {
  readonly task: string;
  readonly payload: (random: Random, orderId: string) => unknown;
  /** The releases with the bug. Default: the current one. */
  readonly releases?: readonly (1 | 2 | 3)[];
  /** How often it happens while the shop is filled. */
  readonly times: number;
  /** Not repeated later, because it is slow or crashes a process. */
  readonly isRare?: boolean;
}

const order =
  (change: (order: Order) => Partial<Order>) =>
  (random: Random, orderId: string): Order => {
    const good = orderOf(random, orderId);
    return { ...good, ...change(good) };
  };
const withCard = (card: string) => order(() => ({ card }));
const withItem = (sku: string, quantity = 1) =>
  order(({ items }) => ({ items: [...items, { sku, quantity, price: 36 }] }));
const withAddress = (address: Partial<Order['address']>) =>
  order((good) => ({ address: { ...good.address, ...address } }));

const mailTo =
  (to: string) =>
  (_: Random, orderId: string): unknown => ({
    template: 'order-confirmed',
    to,
    values: { name: 'Ada Okafor', orderId },
  });

const product =
  (change: object) =>
  (random: Random): unknown => ({
    ...random.pick(products),
    attributes: JSON.stringify({ colour: 'oak', weight: random.whole(1, 9) }),
    ...change,
  });

const picture =
  (file: string) =>
  (random: Random): unknown => ({ sku: random.pick(products).sku, file, widths: [320, 960] });

const refundOf =
  (change: object) =>
  (random: Random, orderId: string): unknown => ({
    orderId,
    chargeId: `ch_${random.whole(100_000, 999_999)}`,
    captured: 64,
    amount: 32,
    reason: 'Arrived damaged',
    to: { name: 'Jonas Weber', email: 'jonas.weber@mail.example' },
    ...change,
  });

const document = (sku: string) => (): unknown => ({
  sku,
  title: 'Pendant lamp',
  path: 'home / light',
  attributes: { colour: 'white' },
});

/** Each creates its own error group, and some of them a second one in `checkout`. */
export const incidents: readonly Incident[] = [
  { task: 'checkout', times: 9, payload: withCard('tok_insufficient_funds') },
  { task: 'checkout', times: 5, payload: withCard('tok_expired_card') },
  { task: 'checkout', times: 3, payload: withCard('tok_authentication_required') },
  { task: 'checkout', times: 4, payload: withCard('tok_unavailable') },
  { task: 'checkout', times: 2, payload: withCard('tok_slow'), isRare: true },
  { task: 'checkout', times: 2, payload: withCard('tok_garbled') },
  { task: 'checkout', times: 6, payload: withItem('LAMP-118') },
  { task: 'checkout', times: 4, payload: withItem('FLOUR-25'), releases: [2] },
  { task: 'checkout', times: 2, payload: withItem('RUG-990') },
  { task: 'checkout', times: 2, payload: withItem('VASE-31') },
  { task: 'checkout', times: 3, payload: withItem('TABLE-77') },
  { task: 'checkout', times: 4, payload: withItem('CHAIR-12', 5) },
  { task: 'checkout', times: 3, payload: withAddress({ street: '4 rue du Silence' }) },
  { task: 'checkout', times: 3, payload: withAddress({ postcode: '1', country: 'DE' }), releases: [1, 3] },
  { task: 'checkout', times: 3, payload: withAddress({ postcode: '1', country: 'DE' }), releases: [2] },
  { task: 'checkout', times: 2, payload: withItem('BRICK-9', 90) },
  { task: 'checkout', times: 2, payload: withAddress({ country: 'AQ' }) },
  { task: 'checkout', times: 4, payload: withAddress({ country: 'NO', postcode: '0155' }), releases: [1] },
  { task: 'send-mail', times: 7, payload: mailTo('ada@busy.example') },
  { task: 'send-mail', times: 3, payload: mailTo('ada.example') },
  { task: 'send-mail', times: 2, payload: mailTo('ada@full.example') },
  {
    task: 'send-mail',
    times: 4,
    payload: () => ({ template: 'welcome', to: 'mei@mail.example', values: { name: 'Mei Tanaka' } }),
  },
  { task: 'refund', times: 2, payload: refundOf({ amount: 96 }) },
  { task: 'refund', times: 2, payload: refundOf({ chargeId: 'ch_refunded' }) },
  { task: 'refund', times: 1, payload: refundOf({ amount: 60, answerWithin: '1s' }), isRare: true },
  { task: 'import-product', times: 3, payload: product({ price: 0 }) },
  { task: 'import-product', times: 5, payload: product({ category: 'seasonal' }) },
  { task: 'import-product', times: 2, payload: product({ attributes: "{'colour': 'oak'}" }) },
  { task: 'import-product', times: 2, payload: product({ title: '' }) },
  { task: 'resize-image', times: 3, payload: picture('holiday.heic') },
  { task: 'resize-image', times: 2, payload: picture('poster-print.png') },
  { task: 'resize-image', times: 3, payload: picture('cut-off.jpeg') },
  { task: 'index-search', times: 3, payload: document('LAMP-409') },
  { task: 'index-search', times: 2, payload: document('LAMP-400') },
  {
    task: 'render-invoice',
    times: 1,
    payload: (_, orderId) => ({ orderId, lines: 12, font: 'Damaged Sans' }),
    isRare: true,
  },
  { task: 'render-invoice', times: 1, payload: (_, orderId) => ({ orderId, lines: 20_000 }), isRare: true },
];
