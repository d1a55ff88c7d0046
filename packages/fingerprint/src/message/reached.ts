import { protect, replacing } from './rule.ts';
import type { Rule } from './rule.ts';
import { isErrorWord } from './vocabulary.ts';

// The service on a well-known port. Other ports are data.
const services: Record<string, string> = Object.fromEntries(
  Object.entries({
    postgres: [5432, 5433, 6432, 6543],
    redis: [6379, 6380],
    mysql: [3306],
    mongodb: [27017, 27018],
    amqp: [5671, 5672],
    kafka: [9092, 9093],
    elasticsearch: [9200],
    memcached: [11211],
    smtp: [25, 465, 587, 1025],
    nats: [4222],
    mqtt: [1883, 8883],
    ssh: [22],
  }).flatMap(([service, ports]) => ports.map((port) => [port, service])),
);
const products =
  /^(?:stripe|openai|anthropic|slack|github|gitlab|twilio|sendgrid|mailgun|paypal|adyen|shopify|hubspot|salesforce|postgres|postgresql|pg|redis|mysql|mongo|mongodb|kafka|rabbitmq|elasticsearch|minio|clickhouse|supabase|algolia|sentry|datadog)$/;
const deployed =
  /^(?:com|net|org|dev|app|cloud|internal|local|localhost|localdomain|invalid|example|test|testing|svc|cluster|www|api|host|server|prod|production|staging|stage|development|sandbox|live|primary|replica|master|main|public|private|east|west|north|south|central|node|pod|service|default|domain|zone|site|web|unknown|missing|not|no|does|exist|nonexistent)$/;

/** The words in a host name that identify a service: `stripe` for `api.stripe.com`, nothing for `tenant-42.example.com`. */
function serviceOf(host: string): string {
  const words = host.toLowerCase().split(/[.-]/, 12);
  return words
    .filter((word) => !deployed.test(word) && word.length > 1 && (products.test(word) || isErrorWord(word)))
    .join('.');
}

/** System errors without host and port, except for the service that they identify. */
export const reached: Rule = replacing(
  'system error',
  /\b(connect|read|write|bind|listen|accept|shutdown|getaddrinfo|query\w{0,20}|send|recvmsg) (E[A-Z_]{2,15})(?: ([^\s,;]{1,200}))?(?: - Local \([^)\n]{0,100}\))?/g,
  (_all = '', call = '', code = '', target = '') => {
    const port = call === 'connect' ? /:(\d{2,5})$/.exec(target)?.[1] : undefined;
    const service =
      port === undefined ? (/^getaddrinfo|^query/.test(call) ? serviceOf(target) : '') : services[port];
    return service ? `${call} ${code} ${protect(service)}` : `${call} ${code}`;
  },
  (text) => /\bE[A-Z]{2}/.test(text),
);
