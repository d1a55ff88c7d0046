import amqp from 'amqplib';

export default async () =>
  amqp.connect('amqp://127.0.0.1:1').then(
    () => 'connected',
    (error) => error.code,
  );
