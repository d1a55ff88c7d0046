import { Client } from '@hubspot/api-client';

export default async () => typeof new Client({ accessToken: 'none' }).crm.contacts.basicApi.create;
