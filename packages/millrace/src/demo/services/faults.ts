/** The response of a service of the shop. */
export interface Answer {
  readonly status: number;
  /** Strings are sent verbatim, anything else as JSON. */
  readonly body: unknown;
  /** The connection breaks, or there is no response at all. */
  readonly fault?: 'reset' | 'silence';
}

export interface ServiceRequest {
  readonly path: string;
  readonly query: URLSearchParams;
  readonly body: Readonly<Record<string, unknown>>;
}

type Service = (request: ServiceRequest) => Answer;

const ok = (body: unknown): Answer => ({ status: 200, body });
const refusal = (status: number, code: string, message: string): Answer => ({
  status,
  body: { code, message },
});
const reset: Answer = { status: 0, body: null, fault: 'reset' };
const silence: Answer = { status: 0, body: null, fault: 'silence' };
const textOf = (value: unknown): string => (typeof value === 'string' ? value : '');
/** A fixed number from 0 to 1 for each text. */
export const shareOf = (text: string): number => {
  let hash = 2_166_136_261;
  for (const character of text) hash = Math.imul(hash ^ (character.codePointAt(0) ?? 0), 16_777_619);
  return (hash >>> 0) / 2 ** 32;
};
const numberOf = (text: string): number => Math.floor(shareOf(text) * 900_000) + 100_000;

/** As with payment providers, the card's token selects the outcome of a test. */
const payments: Service = ({ path, body }) => {
  const card = textOf(body['card']);
  if (path === '/refunds')
    return body['chargeId'] === 'ch_refunded'
      ? refusal(409, 'already_refunded', 'This charge was refunded before')
      : ok({ id: `re_${numberOf(textOf(body['chargeId']))}` });
  if (card === 'tok_unavailable') return refusal(503, 'issuer_unavailable', 'The bank does not respond');
  if (card === 'tok_slow') return silence;
  if (card === 'tok_garbled')
    return { status: 200, body: '<html><body>Maintenance until 6:00</body></html>' };
  if (!card.startsWith('tok_visa')) return refusal(402, card.replace('tok_', ''), 'The bank refused');
  return ok({ id: `ch_${numberOf(textOf(body['orderId']))}`, captured: body['amount'] });
};

/** Some items have unexpected records, and Sundays are closed late. */
const erp: Service = ({ path }) => {
  if (path.startsWith('/sales/')) {
    const isSunday = new Date(path.replace('/sales/', '')).getUTCDay() === 0;
    return isSunday
      ? refusal(500, 'closing', 'The books for the day are not closed')
      : ok({ orders: numberOf(path) % 900 });
  }
  const sku = path.replace('/stock/', '');
  const stock = {
    sku,
    available: '480',
    warehouse: { code: shareOf(sku) < 0.5 ? 'ham' : 'lyo', aisle: numberOf(sku) % 40 },
  };
  switch (sku) {
    case 'LAMP-118':
      return ok({ ...stock, warehouse: null });
    case 'FLOUR-25':
      return ok({ ...stock, available: '120,5' });
    case 'CHAIR-12':
      return ok({ ...stock, available: '3' });
    case 'RUG-990':
      return refusal(404, 'unknown_article', 'No such article');
    case 'VASE-31':
      return refusal(500, 'ORA-00060', 'deadlock detected while waiting for resource');
    case 'TABLE-77':
      return reset;
    default:
      return ok(stock);
  }
};

const carrier: Service = ({ path, query, body }) => {
  if (path === '/addresses') {
    const street = query.get('street') ?? '';
    return street.includes('Silence') ? silence : ok({ normalised: street.toUpperCase() });
  }
  if (textOf(body['postcode']).length < 4)
    return refusal(422, 'invalid_postcode', 'The postcode does not exist');
  return ok({ tracking: `MR${numberOf(textOf(body['orderId']))}` });
};

const mail: Service = ({ body }) => {
  const to = textOf(body['to']);
  if (!to.includes('@')) return refusal(400, 'invalid_recipient', 'The recipient is not an address');
  if (to.endsWith('@busy.example')) return refusal(429, 'rate_limited', 'Too many messages this minute');
  if (to.endsWith('@full.example')) return refusal(422, 'mailbox_full', '5.2.2 The mailbox is full');
  return ok({ id: `msg_${numberOf(to + textOf(body['text']))}` });
};

const search: Service = ({ path }) => {
  if (path.endsWith('-409'))
    return refusal(409, 'version_conflict', 'The document was changed in the meantime');
  if (path.endsWith('-400'))
    return refusal(400, 'mapper_parsing', 'The field attributes.colour is of another type');
  return ok({ version: numberOf(path) % 12 });
};

const images: Service = ({ path }) => {
  const format = path.split('.').at(-1) ?? '';
  const isLarge = path.includes('poster');
  const bytes = path.includes('cut-off') ? null : Buffer.alloc(3_000, 7).toString('base64');
  return ok({ format, pixels: isLarge ? 120_000_000 : 4_000_000, bytes });
};

/** Every ninth minute is missing. */
const rates: Service = ({ query }) => {
  const minute = Math.floor(Date.parse(query.get('at') ?? '') / 60_000);
  return minute % 9 === 4 ? reset : ok({ EUR: 1, USD: 1.08 + (minute % 50) / 1_000, GBP: 0.86, JPY: 161 });
};

/** Receives notifications: one address accepts them, and the other belongs to a program that is no longer maintained. */
const hooks: Service = ({ path }) =>
  path === '/legacy-crm'
    ? refusal(500, 'internal', 'undefined method `upsert` for nil')
    : ok({ received: true });

export const services: Readonly<Record<string, Service>> = {
  payments,
  erp,
  carrier,
  mail,
  search,
  images,
  rates,
  hooks,
};
