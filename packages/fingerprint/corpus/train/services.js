import OpenAI from 'openai';
import Stripe from 'stripe';
import { z } from 'zod';
import { z as z4 } from 'zod4';

const customerShape = z.object({ email: z.string().email(), age: z.number().min(18), tags: z.array(z.string()) });
const orderShape = z.object({ id: z.string().uuid(), lines: z.array(z.object({ sku: z.string(), count: z.number().int() })) });
const shipmentShape = z4.object({ email: z4.email(), weight: z4.number().max(30), parcels: z4.array(z4.string()) });

function checkCustomer(value) {
  return customerShape.parse(value);
}

function checkOrder(value) {
  return orderShape.parse(value);
}

function checkShipment(value) {
  return shipmentShape.parse(value);
}

class Billing {
  constructor(http) {
    const url = new URL(http);
    this.stripe = new Stripe('sk_test_123', { host: url.hostname, port: Number(url.port), protocol: 'http', maxNetworkRetries: 0 });
  }

  async charge(id) {
    await this.stripe.paymentIntents.retrieve(id);
  }

  async customer(id) {
    await this.stripe.customers.retrieve(id);
  }

  async payout(amount) {
    await this.stripe.payouts.create({ amount, currency: 'eur' });
  }
}

class Assistant {
  constructor(http) {
    this.openai = new OpenAI({ apiKey: 'sk-x', baseURL: `${http}/openai`, maxRetries: 0, timeout: 2000 });
  }

  async summarize(model) {
    await this.openai.chat.completions.create({ model, messages: [{ role: 'user', content: 'x' }] });
  }

  async embed(model) {
    await this.openai.embeddings.create({ model, input: 'x' });
  }
}

async function unreachableAssistant(host) {
  const openai = new OpenAI({ apiKey: 'sk-x', baseURL: `http://${host}:39471/v1`, maxRetries: 0 });
  await openai.models.list();
}

export const t = {
  customer: { id: 'check-customer', run: async ({ value }) => checkCustomer(value) },
  order: { id: 'check-order', run: async ({ value }) => checkOrder(value) },
  shipment: { id: 'check-shipment', run: async ({ value }) => checkShipment(value) },
  stripe: { id: 'stripe', run: async ({ verb, argument }, { http }) => await new Billing(http)[verb](argument) },
  openai: { id: 'openai', run: async ({ verb, argument }, { http }) => await new Assistant(http)[verb](argument) },
  offline: { id: 'openai-offline', run: async ({ host }) => { await unreachableAssistant(host); } },
};

export const bugs = [
  { label: 'zod e-mail', task: t.customer, payload: (d) => ({ value: { email: d.word(), age: d.int(20, 90), tags: [] } }) },
  { label: 'zod age', task: t.customer, payload: (d) => ({ value: { email: d.email(), age: d.int(1, 17), tags: [] } }) },
  { label: 'zod tag', task: t.customer, payload: (d) => ({ value: { email: d.email(), age: 30, tags: ['a', d.int(1, 9)] } }) },
  { label: 'zod no e-mail', task: t.customer, payload: () => ({ value: { age: 30, tags: [] } }) },
  { label: 'zod sku', task: t.order, payload: (d) => ({ value: { id: d.uuid(), lines: [...Array.from({ length: d.int(0, 4) }, () => ({ sku: 'a', count: 1 })), { count: 2 }] } }) },
  { label: 'zod count', task: t.order, payload: (d) => ({ value: { id: d.uuid(), lines: [...Array.from({ length: d.int(0, 4) }, () => ({ sku: 'a', count: 1 })), { sku: 'x', count: 'two' }] } }) },
  { label: 'zod4 e-mail', task: t.shipment, payload: (d) => ({ value: { email: d.word(), weight: 3, parcels: [] } }) },
  { label: 'zod4 weight', task: t.shipment, payload: (d) => ({ value: { email: d.email(), weight: d.int(40, 90), parcels: [] } }) },
  { label: 'zod4 parcels', task: t.shipment, payload: (d) => ({ value: { email: d.email(), weight: 1, parcels: ['x', d.int(1, 9)] } }) },
  { label: 'stripe no such payment_intent', task: t.stripe, payload: (d) => ({ verb: 'charge', argument: `pi_${d.alnum(24)}` }) },
  { label: 'stripe no such customer', task: t.stripe, payload: (d) => ({ verb: 'customer', argument: `cus_${d.alnum(14)}` }) },
  { label: 'stripe payout', task: t.stripe, payload: (d) => ({ verb: 'payout', argument: d.int(1000, 99999) }) },
  { label: 'openai rate limit', task: t.openai, payload: () => ({ verb: 'summarize', argument: 'gpt-busy' }) },
  { label: 'openai no model', task: t.openai, payload: () => ({ verb: 'summarize', argument: 'gpt-gone' }) },
  { label: 'openai embeddings 500', task: t.openai, payload: () => ({ verb: 'embed', argument: 'text-broken' }) },
  { label: 'openai offline', task: t.offline, payload: (d) => ({ host: `127.0.${d.int(0, 255)}.${d.int(1, 250)}` }) },
];
