import mime from 'mime-types';

export default async () => mime.lookup('a.pdf');
