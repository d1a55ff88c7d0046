import { z } from 'zod';

export const item = z.object({
  sku: z.string().regex(/^[A-Z]+-\d+$/),
  quantity: z.number().int().min(1).max(99),
  price: z.number().positive().describe('Price per item, in the currency of the order'),
});

export const address = z.object({
  street: z.string(),
  postcode: z.string(),
  city: z.string(),
  country: z.string().length(2).describe('ISO 3166, such as DE'),
});

export const customer = z.object({ id: z.string(), name: z.string(), email: z.string() });

export const order = z.object({
  orderId: z.string().describe('Such as ord_10042'),
  customer,
  address,
  currency: z.enum(['EUR', 'USD', 'GBP', 'JPY']),
  items: z.array(item).min(1),
  card: z.string().describe('The token of the payment provider, never the card number'),
  giftNote: z.string().optional(),
});

export type Order = z.infer<typeof order>;
export type Item = z.infer<typeof item>;

export const totalOf = ({ items }: Pick<Order, 'items'>): number =>
  Math.round(100 * items.reduce((sum, { quantity, price }) => sum + quantity * price, 0)) / 100;

/** Kilograms. */
export const weightOf = (items: readonly Item[]): number =>
  items.reduce((sum, { quantity }) => sum + 0.4 * quantity, 0);
