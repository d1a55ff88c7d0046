import { ClientSecretCredential } from '@azure/identity';

export default async () => typeof new ClientSecretCredential('a', 'b', 'c').getToken;
