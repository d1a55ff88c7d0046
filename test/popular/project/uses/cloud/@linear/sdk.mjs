import { LinearClient } from '@linear/sdk';

export default async () => typeof new LinearClient({ apiKey: 'none' }).issues;
