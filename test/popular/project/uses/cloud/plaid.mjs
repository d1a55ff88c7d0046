import { Configuration, PlaidApi, PlaidEnvironments } from 'plaid';

export default async () =>
  typeof new PlaidApi(new Configuration({ basePath: PlaidEnvironments.sandbox })).accountsGet;
