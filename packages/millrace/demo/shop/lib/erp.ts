import { quantityOf } from './quantity.ts';
import { call } from './service.ts';

interface StockRecord {
  readonly sku: string;
  /** In the ERP's format. */
  readonly available: string;
  // Always present, according to the ERP's documentation.
  readonly warehouse: { readonly code: string; readonly aisle: number };
}

export class OutOfStock extends Error {
  override readonly name = 'OutOfStock';
}

/** Reserves stock of an item. Returns its location. */
export async function reserve(orderId: string, sku: string, quantity: number): Promise<string> {
  const stock = await call<StockRecord>('erp', `/stock/${sku}`);
  const available = quantityOf(stock.available);
  if (available < quantity)
    throw new OutOfStock(`Only ${available} of ${sku} left, and ${quantity} were ordered`);
  const shelf = `${stock.warehouse.code.toUpperCase()}-${stock.warehouse.aisle}`;
  await call('erp', '/reservations', { body: { orderId, sku, quantity, shelf } });
  return shelf;
}
