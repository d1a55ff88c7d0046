import webPush from 'web-push';

export default async () => webPush.generateVAPIDKeys().publicKey.length;
