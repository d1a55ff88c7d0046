import QRCode from 'qrcode';

export default async () => (await QRCode.toDataURL('hello')).slice(0, 22);
