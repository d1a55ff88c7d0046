import { seal, unseal, type MasterKey } from '../auth/seal.ts';

/** The encryption context of a value: its environment and name. */
export const variablePlace = (env: number, name: string): string => `variables:${env}:${name}`;

export const sealValue = (masterKey: MasterKey, env: number, name: string, value: string): Buffer =>
  seal(masterKey, value, variablePlace(env, name));

export const openValue = (masterKey: MasterKey, env: number, name: string, sealed: Uint8Array): string =>
  unseal(masterKey, sealed, variablePlace(env, name));
