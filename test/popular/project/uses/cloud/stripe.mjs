import Stripe from 'stripe';

export default async () => {
  const stripe = new Stripe('sk_none', {
    host: '127.0.0.1',
    port: 1,
    protocol: 'http',
    maxNetworkRetries: 0,
  });
  return stripe.charges.list().then(
    () => 'listed',
    (error) => error.type,
  );
};
