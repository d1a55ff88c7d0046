import { customers, products, type Address, type Currency, type Customer } from './catalogue.ts';
import type { Random } from './random.ts';

export interface Item {
  readonly sku: string;
  readonly quantity: number;
  readonly price: number;
}

/** The payload of a checkout. */
export interface Order {
  readonly orderId: string;
  readonly customer: Customer;
  readonly address: Address;
  readonly currency: Currency;
  readonly items: readonly Item[];
  readonly card: string;
}

/** Numbers orders starting with `from`, so that they have the same names in every demo. */
export function orderNumbers(from = 10_001): () => string {
  let next = from;
  return () => `ord_${next++}`;
}

/** An order without problems. */
export function orderOf(random: Random, orderId: string): Order {
  const { address, currency, ...customer } = random.pick(customers);
  const items = Array.from({ length: random.whole(1, 3) }, (): Item => {
    const { sku, price } = random.pick(products);
    return { sku, price, quantity: random.whole(1, 2) };
  });
  return { orderId, customer, address, currency, items, card: `tok_visa_${random.whole(1_000, 9_999)}` };
}
