import { quantityOf } from './quantity.ts';
import { call } from './service.ts';

interface StockRecord {
  readonly sku: string;
  /** As the ERP writes it. */
  readonly available: string;
  // The documentation of the ERP says that it is always there.
  readonly warehouse: { readonly code: string; readonly aisle: number };
}

export class OutOfStock extends Error {
  override readonly name = 'OutOfStock';
}

/** Reserves some pieces of an article. Returns where they are. */
export async function reserve(orderId: string, sku: string, quantity: number): Promise<string> {
  const stock = await call<StockRecord>('erp', `/stock/${sku}`);
  const available = quantityOf(stock.available);
  if (available < quantity)
    throw new OutOfStock(`Only ${available} of ${sku} left, and ${quantity} were ordered`);
  const shelf = `${stock.warehouse.code.toUpperCase()}-${stock.warehouse.aisle}`;
  await call('erp', '/reservations', { body: { orderId, sku, quantity, shelf } });
  return shelf;
}
