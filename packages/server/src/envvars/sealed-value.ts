import { seal, unseal, type MasterKey } from '../auth/seal.ts';

/** Where a value is sealed for: it opens in this environment, under this name, and nowhere else. */
export const variablePlace = (env: number, name: string): string => `variables:${env}:${name}`;

export const sealValue = (masterKey: MasterKey, env: number, name: string, value: string): Buffer =>
  seal(masterKey, value, variablePlace(env, name));

export const openValue = (masterKey: MasterKey, env: number, name: string, sealed: Uint8Array): string =>
  unseal(masterKey, sealed, variablePlace(env, name));
