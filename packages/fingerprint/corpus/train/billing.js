import { AdyenGateway, Gateway, KlarnaGateway, PaymentDeclinedError, PaypalGateway } from './gateways.js';

class InsufficientFunds extends Error {
  constructor(account, balance, needed) {
    super(`Account ${account} has ${balance} but needs ${needed}`);
    this.name = this.constructor.name;
    this.code = 'insufficient_funds';
  }
}

class LedgerError extends Error {
  name = 'LedgerError';
}

async function settleInvoice(invoice) {
  const gateway = { paypal: PaypalGateway, adyen: AdyenGateway, klarna: KlarnaGateway }[invoice.gateway].instance;
  await gateway.capture(invoice.order);
}

function debit(account, balance, needed) {
  if (needed > balance) throw new InsufficientFunds(account, balance, needed);
}

function postToLedger(entry) {
  if (entry.debit !== entry.credit) throw new LedgerError(`Entry ${entry.id} is out of balance by ${(entry.debit - entry.credit).toFixed(2)}`);
  if (!entry.period) throw new LedgerError(`Entry ${entry.id} has no period`);
}

function parseIban(text) {
  if (!/^FR/.test(text)) throw new TypeError(`Invalid IBAN '${text}' for customer`);
}

async function nightlyStatement(user) {
  try {
    debit(user.account, 10, user.needed);
  } catch (error) {
    throw new Error(`Could not create the statement of ${user.email}`, { cause: error });
  }
}

async function chargeAll(invoices) {
  const results = await Promise.allSettled(invoices.map((invoice) => settleInvoice(invoice)));
  throw new AggregateError(
    results.map((result) => result.reason),
    `${results.length} of ${invoices.length} invoices failed`,
  );
}

export const capturePayment = { id: 'capture-payment', run: async (payload) => await settleInvoice(payload) };
export const refundPayment = {
  id: 'refund-payment',
  async run({ gateway, order, amount }) {
    const chosen = Gateway.named(gateway);
    await chosen.refund(order, amount);
  },
};
export const debitAccount = { id: 'debit-account', run: async ({ account, balance, needed }) => debit(account, balance, needed) };
export const postEntry = { id: 'post-entry', run: async (payload) => { postToLedger(payload); } };
export const checkIban = { id: 'check-iban', run: async (payload) => { parseIban(payload.iban); } };
export const statement = { id: 'nightly-statement', run: nightlyStatement };
export const chargeBatch = { id: 'charge-batch', run: async (payload) => chargeAll(payload.invoices) };
export const convert = {
  id: 'convert-currency',
  run: async ({ currency }) => {
    PaypalGateway.instance.requireCurrency(currency, ['EUR']);
  },
};
export const inlineThrow = {
  id: 'close-month',
  run: async ({ month, open }) => {
    if (open > 0) throw new Error(`Cannot close ${month}: ${open} invoices are still open`);
    throw new Error('Month is already closed');
  },
};
export const timed = {
  id: 'await-payment',
  run: ({ order, ms }) =>
    new Promise((_resolve, reject) => {
      setTimeout(() => reject(new PaymentDeclinedError(`No answer for order ${order} within ${ms}ms`)), 2);
    }),
};

export const bugs = [
  { label: 'paypal capture not implemented', task: capturePayment, payload: (d) => ({ gateway: 'paypal', order: d.id('ord') }) },
  { label: 'adyen capture not implemented', task: capturePayment, payload: (d) => ({ gateway: 'adyen', order: d.id('ord') }) },
  { label: 'klarna capture not implemented (base class)', task: capturePayment, payload: (d) => ({ gateway: 'klarna', order: d.id('ord') }) },
  { label: 'paypal refund too large', task: refundPayment, payload: (d) => ({ gateway: 'paypal', order: d.id('ord'), amount: d.int(101, 900) }) },
  { label: 'paypal refund window', task: refundPayment, payload: (d) => ({ gateway: 'paypal', order: d.id('ord'), amount: d.int(1, 99) }) },
  { label: 'adyen refund too large', task: refundPayment, payload: (d) => ({ gateway: 'adyen', order: d.id('ord'), amount: d.int(101, 900) }) },
  { label: 'unknown gateway', task: refundPayment, payload: () => ({ gateway: 'sofort', order: 'x', amount: 1 }) },
  { label: 'insufficient funds', task: debitAccount, payload: (d) => ({ account: d.id('acct'), balance: Number(d.float(1, 99)), needed: Number(d.float(100, 9999)) }) },
  { label: 'ledger out of balance', task: postEntry, payload: (d) => ({ id: d.uuid(), debit: d.int(1, 9999), credit: 0.5 }) },
  { label: 'ledger no period', task: postEntry, payload: (d) => ({ id: d.uuid(), debit: 1, credit: 1 }) },
  { label: 'invalid iban', task: checkIban, payload: (d) => ({ iban: d.iban() }) },
  { label: 'statement (cause shown)', inspected: true, task: statement, payload: (d) => ({ email: d.email(), account: d.id('acct'), needed: d.int(20, 5000) }) },
  { label: 'batch of charges', inspected: true, task: chargeBatch, payload: (d) => ({ invoices: [{ gateway: 'paypal', order: d.id('ord') }, { gateway: 'adyen', order: d.id('ord') }] }) },
  { label: 'unsupported currency', task: convert, payload: (d) => ({ currency: d.pick(['USD', 'GBP', 'JPY', 'PLN', 'SEK']) }) },
  { label: 'open invoices', task: inlineThrow, payload: (d) => ({ month: d.date().slice(0, 7), open: d.int(1, 80) }) },
  { label: 'month closed', task: inlineThrow, payload: (d) => ({ month: d.date().slice(0, 7), open: 0 }) },
  { label: 'payment timed out', task: timed, payload: (d) => ({ order: d.id('ord'), ms: d.int(100, 60000) }) },
];
