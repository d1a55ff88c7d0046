import { keccak256, toHex } from 'viem';

export default async () => keccak256(toHex('a'));
