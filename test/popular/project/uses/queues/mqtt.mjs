import mqtt from 'mqtt';

export default async () =>
  mqtt.connectAsync('mqtt://127.0.0.1:1', { reconnectPeriod: 0 }, false).then(
    () => 'connected',
    (error) => error.code,
  );
