import Big from 'big.js';

export default async () => Big('0.1').plus('0.2').toString();
