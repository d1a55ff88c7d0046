import ini from 'ini';

export default async () => ini.parse('[a]\nb = 1');
