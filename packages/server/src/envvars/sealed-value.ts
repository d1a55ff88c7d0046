import { seal, unseal, type MasterKey } from '../auth/seal.ts';

/** The encryption context of a value: its environment and name. */
export const variableContext = (env: number, name: string): string => `variables:${env}:${name}`;

export const sealValue = (masterKey: MasterKey, env: number, name: string, value: string): Buffer =>
  seal(masterKey, value, variableContext(env, name));

export const openValue = (masterKey: MasterKey, env: number, name: string, sealed: Uint8Array): string =>
  unseal(masterKey, sealed, variableContext(env, name));
