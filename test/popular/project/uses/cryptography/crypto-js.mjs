import CryptoJS from 'crypto-js';

export default async () => String(CryptoJS.SHA256('a'));
