import iconv from 'iconv-lite';

export default async () => iconv.decode(Buffer.from([0x93, 0xfa]), 'shift_jis');
