import { PubSub } from '@google-cloud/pubsub';

/** Reads `.proto` files of the package. */
export default async () => new PubSub({ projectId: 'a' }).topic('b').name;
