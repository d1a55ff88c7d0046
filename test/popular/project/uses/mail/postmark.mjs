import { ServerClient } from 'postmark';

export default async () => new ServerClient('none').getClientOptions().timeout;
