import { Counter, Registry } from 'prom-client';

export default async () => {
  const registry = new Registry();
  new Counter({ name: 'sent', help: 'sent', registers: [registry] }).inc();
  return registry.metrics();
};
