import { call, ServiceError } from './service.ts';

/** The customer's bank declined the payment. Another attempt would fail as well. */
export class PaymentDeclined extends Error {
  override readonly name = 'PaymentDeclined';
}

interface Charge {
  readonly id: string;
  readonly captured: number;
}

export async function charge(
  orderId: string,
  card: string,
  amount: number,
  currency: string,
): Promise<Charge> {
  try {
    return await call<Charge>('payments', '/charges', { body: { orderId, card, amount, currency } });
  } catch (error) {
    if (error instanceof ServiceError && error.status === 402)
      throw new PaymentDeclined(`The card was declined: ${error.code}`, { cause: error });
    throw error;
  }
}

export async function refund(chargeId: string, amount: number): Promise<{ id: string }> {
  return call('payments', '/refunds', { body: { chargeId, amount } });
}
