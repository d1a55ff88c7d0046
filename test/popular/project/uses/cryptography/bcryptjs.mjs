import bcrypt from 'bcryptjs';

export default async () => bcrypt.compare('a', await bcrypt.hash('a', 4));
