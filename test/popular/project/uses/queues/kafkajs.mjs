import { Kafka, logLevel } from 'kafkajs';

export default async () => {
  const producer = new Kafka({
    brokers: ['127.0.0.1:1'],
    logLevel: logLevel.NOTHING,
    retry: { retries: 0 },
  }).producer();
  return producer.connect().then(
    () => 'connected',
    (error) => error.name,
  );
};
