import bcrypt from 'bcrypt';

export default async () => bcrypt.compare('a', await bcrypt.hash('a', 4));
