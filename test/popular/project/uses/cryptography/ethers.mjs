import { ethers } from 'ethers';

export default async () => ethers.id('a');
