export class PaymentDeclinedError extends Error {
  constructor(message, options) {
    super(message, options);
    this.name = 'PaymentDeclinedError';
  }
}

class Gateway {
  static registry = new Map();

  static named(name) {
    const gateway = Gateway.registry.get(name);
    if (!gateway) throw new Error(`Unknown gateway "${name}"`);
    return gateway;
  }

  constructor(name) {
    this.name = name;
    Gateway.registry.set(name, this);
  }

  async capture() {
    throw new Error('Not implemented');
  }

  requireCurrency(currency, allowed) {
    if (!allowed.includes(currency)) throw new RangeError(`Currency ${currency} is not supported by ${this.name}`);
  }
}

export class PaypalGateway extends Gateway {
  static instance = new PaypalGateway('paypal');

  async capture(order) {
    await null;
    throw new Error('Not implemented');
  }

  async refund(order, amount) {
    if (amount > 100) throw new PaymentDeclinedError(`Refund of ${amount} EUR exceeds captured amount for ${order}`);
    throw new PaymentDeclinedError(`Refund window closed ${order}`);
  }
}

export class AdyenGateway extends Gateway {
  static instance = new AdyenGateway('adyen');

  async capture(order) {
    await null;
    throw new Error('Not implemented');
  }

  async refund(order, amount) {
    throw new PaymentDeclinedError(`Refund of ${amount} EUR exceeds captured amount for ${order}`);
  }
}

export class KlarnaGateway extends Gateway {
  static instance = new KlarnaGateway('klarna');
}

export { Gateway };
